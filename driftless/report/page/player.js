// The board player: one board under up to four schemes, step by step.

const mostSchemes = 4;
const outcomeText = {e: "solved", a: "solved (another right answer)", w: "wrong"};

/// Divergence by step as a small curve with a mark at the current step, all schemes on one scale.
function drawSpark(svg, run, step, highest) {
  const [width, height] = [200, 46];
  const x = d3.scaleLinear().domain([0, Math.max(1, run.divergence.length - 1)]).range([4, width - 4]);
  const y = d3.scaleLinear().domain([0, highest || 1]).range([height - 4, 6]);
  svg.attr("viewBox", `0 0 ${width} ${height}`).selectAll("*").remove();
  svg.append("line").attr("class", "grid").attr("x1", 0).attr("x2", width).attr("y1", height - 4).attr("y2", height - 4);
  svg.append("path").attr("fill", "none").attr("stroke", "var(--accent)").attr("stroke-width", 1.6)
    .attr("d", d3.line().x((_, i) => x(i)).y((d) => y(d))(run.divergence));
  svg.append("circle").attr("cx", x(step)).attr("cy", y(run.divergence[step])).attr("r", 4).attr("fill", "var(--accent)");
}

function traceCommand({checkpoint, data, n, seed, steps, schemes, backend = "cpu", flags}) {
  const calibrations = schemes.map((scheme) => scheme.calibration).filter(Boolean);
  const {attention} = schemes.find((scheme) => scheme.attention) ?? {};
  return commandLine(["trace", checkpoint.file, "--data", data.file, "--limit", n, "--seed", seed, ...deviceFlags(backend),
    ...calibrationFlags(calibrations, data), ...namedFlags(flags), "--coverage", schemes[0].coverage, "--steps", steps,
    ...(attention ? ["--attention", attention] : []), "--schemes", ...schemes.map(schemeOf), "--out", "trace.json"]);
}

function traceProvenance(trace) {
  const facts = [`n ${trace.n} boards of ${trace.data.file}`, `seed ${trace.seed}`,
    `checkpoint ${trace.checkpoint.file} (sha256 ${trace.checkpoint.sha256.slice(0, 12)})`, `${trace.steps} steps`, `driftless ${trace.version}`];
  return make("div", {class: "provenance"}, make("p", {}, facts.join(" · ")), make("p", {}, "Command: ", make("code", {}, traceCommand(trace))));
}

function makePlayer(trace, index) {
  const label = (scheme) => schemeLabel(scheme);
  const state = {board: 0, step: 0, chosen: d3.range(Math.min(mostSchemes, trace.schemes.length)), timer: null};
  const boardPicker = make("select", {"aria-label": "Board"});
  const addOption = (board, i) => {
    const solvers = trace.schemes.filter((_, s) => "ea".includes(board.runs[s].outcome?.at(-1) ?? "w")).map(label);
    const name = board.isLive ? `your board ${i + 1}` : `board ${board.number + 1}`;
    boardPicker.append(make("option", {value: i}, `${name}: ${solvers.length > 0 ? `solved by ${solvers.join("; ")}` : "solved by none"}`));
  };
  trace.boards.forEach(addOption);
  const slider = make("input", {type: "range", min: 1, max: trace.steps, value: 1, "aria-label": "Step"});
  const shown = make("output", {"aria-live": "off"});
  const play = make("button", {type: "button"}, "Play");
  const button = (text, action) => {
    const made = make("button", {type: "button"}, text);
    made.addEventListener("click", action);
    return made;
  };
  const boards = make("div", {class: "boards"});

  function stop() {
    clearInterval(state.timer);
    state.timer = null;
    play.textContent = "Play";
  }
  function go(step) {
    state.step = Math.max(0, Math.min(trace.steps - 1, step));
    draw();
  }
  function pick(board) {
    state.board = (board + trace.boards.length) % trace.boards.length;
    rebuild();
  }
  function addLive(board) {
    trace.boards.push(board);
    addOption(board, trace.boards.length - 1);
    pick(trace.boards.length - 1);
    go(trace.steps - 1);
  }
  function toggle() {
    if (state.timer !== null) return stop();
    if (state.step === trace.steps - 1) go(0);
    play.textContent = "Pause";
    state.timer = setInterval(() => {
      go(state.step + 1);
      if (state.step === trace.steps - 1) stop();
    }, 350);
  }

  function rebuild() {
    boards.replaceChildren(...state.chosen.map((scheme) => make("div", {class: "board", "data-scheme": scheme},
      make("h4", {}, label(trace.schemes[scheme])), make("div", {class: "picture"}), make("p", {class: "state"}), make("div", {class: "spark"}))));
    boards.querySelectorAll(".picture").forEach((box) => d3.select(box).append("svg").attr("role", "img"));
    boards.querySelectorAll(".spark").forEach((box) => d3.select(box).append("svg").attr("role", "img"));
    draw();
  }
  function draw() {
    const board = trace.boards[state.board];
    boardPicker.value = state.board;
    slider.value = state.step + 1;
    shown.textContent = `step ${state.step + 1} of ${trace.steps}`;
    const highest = d3.max(state.chosen, (scheme) => d3.max(board.runs[scheme].divergence ?? []));
    for (const element of boards.children) drawRun(element, board, Number(element.dataset.scheme), highest);
  }
  function drawRun(element, board, scheme, highest) {
    const run = board.runs[scheme];
    const name = label(trace.schemes[scheme]);
    const picture = d3.select(element).select(".picture svg");
    if (run.failed) {
      d3.select(element).selectAll("svg").attr("aria-label", `${name}: not run`).selectAll("*").remove();
      element.querySelector(".state").textContent = `Not run here: ${run.failed}`;
      return;
    }
    const {wrong, counted} = drawBoard(picture, trace, board, run, state.step);
    const outcome = run.outcome[state.step];
    const said = `${wrong} of ${counted} cells wrong`;
    picture.attr("aria-label", `${name}, board ${board.number + 1}, step ${state.step + 1}: ${outcomeText[outcome]}, ${said}`);
    const halt = run.halt[state.step];
    element.querySelector(".state").replaceChildren(
      make("span", {class: outcome === "w" ? "lost" : "solved"}, outcomeText[outcome]),
      `, ${said}. Divergence ${numberText(run.divergence[state.step])}, halt logit ${halt >= 0 ? "+" : "−"}${numberText(Math.abs(halt))}`);
    const spark = d3.select(element).select(".spark svg");
    drawSpark(spark, run, state.step, highest);
    spark.attr("aria-label", `${name}: divergence by step, now ${numberText(run.divergence[state.step])}`);
  }

  const choices = make("fieldset", {class: "schemes"}, make("legend", {}, `Schemes, up to ${mostSchemes}`));
  trace.schemes.forEach((scheme, i) => {
    const box = make("input", {type: "checkbox", value: i});
    box.checked = state.chosen.includes(i);
    box.addEventListener("change", () => {
      const chosen = box.checked ? [...state.chosen, i] : state.chosen.filter((other) => other !== i);
      if (chosen.length >= 1 && chosen.length <= mostSchemes) state.chosen = chosen.sort(d3.ascending);
      for (const other of choices.querySelectorAll("input")) {
        other.checked = state.chosen.includes(Number(other.value));
        other.disabled = !other.checked && state.chosen.length === mostSchemes;
      }
      rebuild();
    });
    box.disabled = !box.checked;
    choices.append(make("label", {}, box, " ", label(scheme)));
  });

  boardPicker.addEventListener("change", () => pick(Number(boardPicker.value)));
  slider.addEventListener("input", () => go(Number(slider.value) - 1));
  play.addEventListener("click", toggle);
  const keys = {
    ArrowRight: () => go(state.step + 1), ArrowLeft: () => go(state.step - 1),
    ArrowDown: () => pick(state.board + 1), ArrowUp: () => pick(state.board - 1),
    Home: () => go(0), End: () => go(trace.steps - 1), " ": toggle,
  };
  const title = `Board player: ${trace.checkpoint.file}, ${trace.task}`;
  const element = make("section", {class: "player", id: `player-${index}`, tabindex: "0", "aria-label": title},
    make("div", {class: "controls"}, boardPicker,
      button("Board before", () => pick(state.board - 1)), button("Next board", () => pick(state.board + 1))),
    make("div", {class: "controls"}, play,
      button("Step back", () => go(state.step - 1)), slider, button("Step on", () => go(state.step + 1)), shown),
    ...[makeLive(trace, addLive)].filter(Boolean), choices, boards,
    make("p", {class: "key"}, "Keys: ", make("kbd", {}, "←"), " ", make("kbd", {}, "→"), " step, ", make("kbd", {}, "↑"), " ", make("kbd", {}, "↓"),
      " board, ", make("kbd", {}, "Home"), " ", make("kbd", {}, "End"), " first and last step, ", make("kbd", {}, "space"),
      " plays. Bold: given. Framed: wrong. Shaded: the less sure the model is, the darker. The curve is the distance of z_L from the float model's."),
    traceProvenance(trace));
  element.addEventListener("keydown", (event) => {
    // A list, a checkbox or a button has keys of its own; so has the slider, and they mean the same.
    if (event.target !== element || !keys[event.key]) return;
    event.preventDefault();
    keys[event.key]();
  });
  rebuild();
  return element;
}
