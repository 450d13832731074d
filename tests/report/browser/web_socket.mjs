// SPDX-License-Identifier: Apache-2.0
// A WebSocket's client side, as much as a local browser needs: whole text messages. Node has one of its own from
// version 22 on, Debian 12 has 20.
import {randomBytes} from "node:crypto";
import {request} from "node:http";

const kText = 1;
const kClose = 8;
const kPing = 9;
const kPong = 10;

export class WebSocketClient {
  #socket;
  #rest = Buffer.alloc(0);
  #parts = [];
  onMessage = () => {};

  /// Connects to ws://HOST:PORT/PATH.
  static connect(url) {
    const headers = {
      Connection: "Upgrade", Upgrade: "websocket", "Sec-WebSocket-Version": "13",
      "Sec-WebSocket-Key": randomBytes(16).toString("base64"),
    };
    return new Promise((resolve, reject) => {
      request(url.replace(/^ws/, "http"), {headers})
        .on("upgrade", (_, socket, head) => resolve(new WebSocketClient(socket, head)))
        .on("response", (answer) => reject(new Error(`${url}: got ${answer.statusCode}, expected an upgrade`)))
        .on("error", reject)
        .end();
    });
  }

  constructor(socket, head) {
    this.#socket = socket;
    socket.on("data", (bytes) => this.#receive(bytes)).on("error", () => {});
    if (head.length > 0) queueMicrotask(() => this.#receive(head));
  }

  send(text) {
    this.#write(kText, Buffer.from(text));
  }

  close() {
    this.#socket.destroy();
  }

  /// One frame, masked as a client's must be.
  #write(kind, payload) {
    const size = payload.length;
    const head = Buffer.alloc(14);
    head[0] = 0x80 | kind;
    let at = 2;
    if (size < 126) head[1] = size;
    else if (size < 65536) { head[1] = 126; head.writeUInt16BE(size, 2); at = 4; }
    else { head[1] = 127; head.writeBigUInt64BE(BigInt(size), 2); at = 10; }
    head[1] |= 0x80;
    const mask = randomBytes(4);
    mask.copy(head, at);
    const masked = Buffer.from(payload);
    for (let i = 0; i < size; ++i) masked[i] ^= mask[i % 4];
    this.#socket.write(Buffer.concat([head.subarray(0, at + 4), masked]));
  }

  #receive(bytes) {
    this.#rest = Buffer.concat([this.#rest, bytes]);
    for (let frame = this.#nextFrame(); frame; frame = this.#nextFrame()) this.#take(frame);
  }

  #nextFrame() {
    const rest = this.#rest;
    if (rest.length < 2) return null;
    let size = rest[1] & 127;
    const at = size === 126 ? 4 : size === 127 ? 10 : 2;
    if (rest.length < at) return null;
    if (size === 126) size = rest.readUInt16BE(2);
    else if (size === 127) size = Number(rest.readBigUInt64BE(2));
    if (rest.length < at + size) return null;
    this.#rest = rest.subarray(at + size);
    return {isLast: rest[0] >= 128, kind: rest[0] & 15, payload: rest.subarray(at, at + size)};
  }

  #take({isLast, kind, payload}) {
    if (kind === kPing) return this.#write(kPong, payload);
    if (kind === kClose) return this.close();
    this.#parts.push(payload);
    if (!isLast) return undefined;
    const text = Buffer.concat(this.#parts).toString("utf8");
    this.#parts = [];
    return this.onMessage(text);
  }
}
