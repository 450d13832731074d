// SPDX-License-Identifier: Apache-2.0
// A headless Firefox, spoken to in WebDriver BiDi, with the same face as chromium.mjs. The network is unreachable, and
// everything that a page complains of is kept.
import {spawn} from "node:child_process";
import {existsSync, mkdtempSync, rmSync, writeFileSync} from "node:fs";
import {tmpdir} from "node:os";
import {join} from "node:path";
import {pathToFileURL} from "node:url";

import {WebSocketClient} from "./web_socket.mjs";

export const firefox = ["/usr/bin/firefox-esr", "/usr/bin/firefox"].find(existsSync);

// A proxy where none listens: nothing leaves the machine.
const settings = {
  "network.proxy.type": 1, "network.proxy.http": "127.0.0.1", "network.proxy.http_port": 9,
  "network.proxy.ssl": "127.0.0.1", "network.proxy.ssl_port": 9, "network.captive-portal-service.enabled": false,
  "network.connectivity-service.enabled": false, "app.update.auto": false, "app.normandy.enabled": false,
  "datareporting.policy.dataSubmissionEnabled": false, "toolkit.telemetry.enabled": false,
  "browser.shell.checkDefaultBrowser": false, "browser.safebrowsing.update.enabled": false,
};

/// The address at which a browser that starts says it listens.
function listening(process) {
  return new Promise((resolve, reject) => {
    let text = "";
    process.stderr.setEncoding("utf8").on("data", (part) => {
      text += part;
      const found = /listening on (ws:\/\/\S+)/.exec(text);
      if (found) resolve(found[1]);
    });
    process.once("exit", () => reject(new Error(`firefox ended: ${text}`)));
  });
}

/// A value as BiDi writes it.
function plain({type, value}) {
  if (type === "array") return value.map(plain);
  if (type === "object") return Object.fromEntries(value.map(([key, one]) => [key, plain(one)]));
  if (type === "number" && typeof value === "string") return Number(value);
  return type === "null" ? null : value;
}

export class Browser {
  #next = 1;
  #waiting = new Map();
  #pages = new Map();

  static async start({dark = false} = {}) {
    const browser = new Browser();
    browser.profile = mkdtempSync(join(tmpdir(), "driftless-firefox-"));
    writeFileSync(join(browser.profile, "user.js"),
      Object.entries({...settings, "layout.css.prefers-color-scheme.content-override": dark ? 0 : 1}).map(([name, value]) => `user_pref("${name}", ${JSON.stringify(value)});\n`).join(""));
    browser.process = spawn(firefox, ["--headless", "--no-remote", "--remote-debugging-port", "0",
      "--profile", browser.profile, "about:blank"],
    {stdio: ["ignore", "ignore", "pipe"], env: {...process.env, HOME: browser.profile, MOZ_CRASHREPORTER_DISABLE: "1"}});
    browser.socket = await WebSocketClient.connect(`${await listening(browser.process)}/session`);
    browser.socket.onMessage = (text) => browser.#receive(JSON.parse(text));
    await browser.send("session.new", {capabilities: {}});
    await browser.send("session.subscribe", {events: ["log.entryAdded", "network.beforeRequestSent"]});
    return browser;
  }

  #receive(message) {
    const waiting = this.#waiting.get(message.id);
    this.#waiting.delete(message.id);
    if (message.type === "event")
      this.#pages.get(message.params.context ?? message.params.source?.context)?.hear(message);
    else if (message.type === "error") waiting?.reject(new Error(`${message.error}: ${message.message}`));
    else waiting?.resolve(message.result);
  }

  send(method, params = {}) {
    const id = this.#next++;
    this.socket.send(JSON.stringify({id, method, params}));
    return new Promise((resolve, reject) => this.#waiting.set(id, {resolve, reject}));
  }

  /// A page from a file or an address, once its script has run to the end. Dark or not is the browser's (start).
  async open(path, {width = 1280, height = 900} = {}) {
    const {context} = await this.send("browsingContext.create", {type: "tab"});
    const page = new Page(this, context);
    this.#pages.set(context, page);
    await page.resize(width, height);
    await this.send("browsingContext.navigate", {context, url: (path instanceof URL ? path : pathToFileURL(path)).href, wait: "complete"});
    await page.until("document.documentElement?.dataset.ready !== undefined");
    return page;
  }

  async stop() {
    const ended = new Promise((resolve) => this.process.once("exit", resolve));
    await this.send("browser.close").catch(() => {});
    await ended;
    this.socket.close();
    rmSync(this.profile, {recursive: true, force: true, maxRetries: 5});
  }
}

class Page {
  complaints = [];
  requests = [];

  constructor(browser, context) {
    Object.assign(this, {browser, context});
  }

  hear({method, params}) {
    if (method === "log.entryAdded" && (params.type !== "console" || params.level === "error" || params.level === "warn"))
      this.complaints.push(params.text);
    if (method === "network.beforeRequestSent") this.requests.push(params.request.url);
  }

  /// The value of an expression, in the page.
  async evaluate(expression) {
    const answer = await this.browser.send("script.evaluate",
      {expression, target: {context: this.context}, awaitPromise: true, userActivation: true});
    if (answer.type === "exception") throw new Error(answer.exceptionDetails.text);
    return plain(answer.result);
  }

  /// Waits until an expression is true; a page that does not get there in a minute has failed.
  async until(expression) {
    const end = Date.now() + 60_000;
    while (!(await this.evaluate(expression))) {
      if (Date.now() > end) throw new Error(`never true: ${expression}; the page says: ${this.complaints.join(" | ")}`);
      await new Promise((resolve) => setTimeout(resolve, 25));
    }
  }

  resize(width, height) {
    return this.browser.send("browsingContext.setViewport", {context: this.context, viewport: {width, height}});
  }

  async click(element) {
    const [x, y] = await this.evaluate(`(() => { const e = ${element}; e.scrollIntoView({block: "center", behavior: "instant"});
      const r = e.getBoundingClientRect(); return [r.left + r.width / 2, r.top + r.height / 2]; })()`);
    const actions = [{type: "pointerMove", x: Math.round(x), y: Math.round(y)}, {type: "pointerDown", button: 0},
      {type: "pointerUp", button: 0}];
    await this.browser.send("input.performActions",
      {context: this.context, actions: [{type: "pointer", id: "mouse", actions}]});
  }

  async key(key) {
    const value = {Enter: "\uE007", Backspace: "\uE003", ArrowLeft: "\uE012", ArrowUp: "\uE013", ArrowRight: "\uE014",
      ArrowDown: "\uE015"}[key] ?? key;
    const actions = ["keyDown", "keyUp"].map((type) => ({type, value}));
    await this.browser.send("input.performActions",
      {context: this.context, actions: [{type: "key", id: "keyboard", actions}]});
  }

  async screenshot() {
    const {data} = await this.browser.send("browsingContext.captureScreenshot", {context: this.context});
    return Buffer.from(data, "base64");
  }

  async close() {
    await this.browser.send("browsingContext.close", {context: this.context});
  }
}
