// SPDX-License-Identifier: Apache-2.0
// A headless Chromium on the other end of a pipe, spoken to in its DevTools protocol: JSON messages, each
// ended by a zero byte. The network is unreachable, and everything that a page complains of is kept.
import {spawn} from "node:child_process";
import {existsSync, mkdtempSync, rmSync} from "node:fs";
import {tmpdir} from "node:os";
import {join} from "node:path";
import {pathToFileURL} from "node:url";

export const chromium = ["/usr/bin/chromium", "/usr/bin/chromium-browser"].find(existsSync);

const flags = [
  "--headless=new", "--no-sandbox", "--disable-gpu", "--disable-dev-shm-usage", "--no-first-run", "--hide-scrollbars",
  "--disable-background-networking", "--disable-component-update", "--host-resolver-rules=MAP * ~NOTFOUND, EXCLUDE 127.0.0.1",
  "--force-color-profile=srgb", "--remote-debugging-pipe",
];

export class Browser {
  #next = 1;
  #waiting = new Map();
  #listeners = [];
  #rest = "";

  static async start() {
    const browser = new Browser();
    browser.profile = mkdtempSync(join(tmpdir(), "driftless-chromium-"));
    browser.process = spawn(chromium, [...flags, `--user-data-dir=${browser.profile}`, "about:blank"],
      {stdio: ["ignore", "ignore", "ignore", "pipe", "pipe"]});
    browser.process.stdio[4].setEncoding("utf8").on("data", (text) => browser.#receive(text));
    return browser;
  }

  #receive(text) {
    const messages = (this.#rest + text).split("\0");
    this.#rest = messages.pop();
    for (const message of messages.map((m) => JSON.parse(m))) {
      const waiting = this.#waiting.get(message.id);
      this.#waiting.delete(message.id);
      if (!waiting) this.#listeners.forEach((listener) => listener(message));
      else if (message.error) waiting.reject(new Error(JSON.stringify(message.error)));
      else waiting.resolve(message.result);
    }
  }

  send(method, params = {}, sessionId = undefined) {
    const id = this.#next++;
    this.process.stdio[3].write(JSON.stringify({id, method, params, sessionId}) + "\0");
    return new Promise((resolve, reject) => this.#waiting.set(id, {resolve, reject}));
  }

  /// A page from a file or an address, once its script has run to the end.
  async open(path, {width = 1280, height = 900, dark = false} = {}) {
    const {targetId} = await this.send("Target.createTarget", {url: "about:blank"});
    const {sessionId} = await this.send("Target.attachToTarget", {targetId, flatten: true});
    const page = new Page(this, targetId, sessionId);
    this.#listeners.push((message) => message.sessionId === sessionId && page.hear(message));
    for (const domain of ["Page", "Runtime", "Log", "Network", "Accessibility"]) await page.send(`${domain}.enable`);
    await page.send("Performance.enable", {timeDomain: "threadTicks"});
    await page.resize(width, height);
    await page.send("Emulation.setEmulatedMedia", {features: [{name: "prefers-color-scheme", value: dark ? "dark" : "light"}]});
    await page.send("Page.navigate", {url: (path instanceof URL ? path : pathToFileURL(path)).href});
    await page.until("document.documentElement?.dataset.ready !== undefined");
    return page;
  }

  async stop() {
    const ended = new Promise((resolve) => this.process.once("exit", resolve));
    await this.send("Browser.close").catch(() => {});
    await ended;
    rmSync(this.profile, {recursive: true, force: true, maxRetries: 5});
  }
}

class Page {
  complaints = [];
  requests = [];

  constructor(browser, targetId, sessionId) {
    Object.assign(this, {browser, targetId, sessionId});
  }

  hear({method, params}) {
    if (method === "Runtime.exceptionThrown") this.complaints.push(params.exceptionDetails.exception?.description ?? params.exceptionDetails.text);
    if (method === "Runtime.consoleAPICalled" && params.type !== "log") this.complaints.push(JSON.stringify(params.args));
    if (method === "Log.entryAdded") this.complaints.push(params.entry.text);
    if (method === "Network.requestWillBeSent") this.requests.push(params.request.url);
  }

  send(method, params = {}) {
    return this.browser.send(method, params, this.sessionId);
  }

  /// The value of an expression, in the page.
  async evaluate(expression) {
    const {result, exceptionDetails} = await this.send("Runtime.evaluate", {expression, returnByValue: true, awaitPromise: true});
    if (exceptionDetails) throw new Error(exceptionDetails.exception?.description ?? exceptionDetails.text);
    return result.value;
  }

  /// Waits until an expression is true; a page that does not get there in a minute has failed.
  async until(expression) {
    const end = Date.now() + 60_000;
    while (!(await this.evaluate(expression))) {
      if (Date.now() > end) throw new Error(`never true: ${expression}; the page says: ${this.complaints.join(" | ")}`);
      await new Promise((resolve) => setTimeout(resolve, 25));
    }
  }

  /// Seconds of processor time that the page's main thread has used; unlike a clock, no busy machine stretches it.
  async busySeconds() {
    const {metrics} = await this.send("Performance.getMetrics");
    return metrics.find(({name}) => name === "TaskDuration").value;
  }

  resize(width, height) {
    return this.send("Emulation.setDeviceMetricsOverride", {width, height, deviceScaleFactor: 1, mobile: width < 600});
  }

  async key(key) {
    const code = {Backspace: 8, Enter: 13, " ": 32, End: 35, Home: 36, ArrowLeft: 37, ArrowUp: 38, ArrowRight: 39, ArrowDown: 40}[key];
    for (const type of ["keyDown", "keyUp"])
      await this.send("Input.dispatchKeyEvent", {type, key, windowsVirtualKeyCode: code, text: type === "keyDown" && key === " " ? " " : undefined});
  }

  /// The middle of the element that an expression names, after it was scrolled into view.
  async #middle(element) {
    const [x, y] = await this.evaluate(`(() => { const e = ${element}; e.scrollIntoView({block: "center", behavior: "instant"});
      const r = e.getBoundingClientRect(); return [r.left + r.width / 2, r.top + r.height / 2]; })()`);
    return {x, y};
  }

  async hover(element) {
    await this.send("Input.dispatchMouseEvent", {type: "mouseMoved", ...(await this.#middle(element))});
  }

  async click(element) {
    const at = {...(await this.#middle(element)), button: "left", clickCount: 1};
    await this.send("Input.dispatchMouseEvent", {type: "mousePressed", ...at});
    await this.send("Input.dispatchMouseEvent", {type: "mouseReleased", ...at});
  }

  /// Roles and names of the accessibility tree.
  async names() {
    const {nodes} = await this.send("Accessibility.getFullAXTree");
    return nodes.filter((node) => !node.ignored).map((node) => ({role: node.role?.value, name: node.name?.value ?? ""}));
  }

  async screenshot(options = {}) {
    const {data} = await this.send("Page.captureScreenshot", {format: "png", ...options});
    return Buffer.from(data, "base64");
  }

  async close() {
    await this.browser.send("Target.closeTarget", {targetId: this.targetId});
  }
}
