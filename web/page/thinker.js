// SPDX-License-Identifier: Apache-2.0
// The page's side of the worker: questions with numbers, and their answers.
class Thinker {
  #worker;
  #number = 0;
  #open = new Map();

  constructor(source) {
    this.#worker = new Worker(URL.createObjectURL(new Blob([source], {type: "text/javascript"})));
    this.#worker.onmessage = ({data}) => this.#hear(data);
    this.#worker.onerror = (event) => {
      event.preventDefault();
      for (const {reject} of this.#open.values()) reject(new Error(`worker: ended; ${event.message ?? "it could not start"}`));
      this.#open.clear();
    };
  }

  /// What is asked ends a run that is under way. `onPart` sees what comes before the answer.
  ask(ask, request = {}, onPart = () => {}) {
    const number = ++this.#number;
    this.#worker.postMessage({...request, ask, number});
    return new Promise((resolve, reject) => this.#open.set(number, {resolve, reject, onPart}));
  }

  #hear({number, part, ...answer}) {
    const question = this.#open.get(number);
    if (part === "step" || part === "tally") {
      if (number === this.#number) question.onPart(answer);
      return;
    }
    this.#open.delete(number);
    if (part === "failed") question.reject(new Error(answer.message));
    else question.resolve(answer);
  }
}
