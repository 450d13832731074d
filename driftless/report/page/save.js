// A figure as a file of its own: its panels below each other with title and legend, every style resolved.

const savedStyles = ["fill", "stroke", "stroke-width", "stroke-dasharray", "opacity", "font-size", "font-family", "font-weight", "text-anchor", "dominant-baseline"];

/// A copy that needs no style sheet.
function resolvedCopy(svg) {
  const copy = svg.cloneNode(true);
  const originals = [svg, ...svg.querySelectorAll("*")];
  [copy, ...copy.querySelectorAll("*")].forEach((element, i) => {
    const style = getComputedStyle(originals[i]);
    for (const name of savedStyles) element.setAttribute(name, style.getPropertyValue(name));
    for (const name of ["class", "aria-label", "aria-hidden", "role"]) element.removeAttribute(name);
  });
  return copy;
}

/// The whole figure as one picture: {node, width, height}.
function pictureOf(figure, title) {
  const root = getComputedStyle(document.documentElement);
  const ink = root.getPropertyValue("--ink").trim();
  const font = getComputedStyle(document.body).fontFamily;
  const panels = [...figure.querySelectorAll(".panel svg")].map((svg) => {
    const {width, height} = svg.viewBox.baseVal;
    return {svg, width, height, title: svg.closest(".panel").previousElementSibling?.textContent ?? ""};
  });
  const width = Math.max(...panels.map((panel) => panel.width), 480) + 32;
  const all = d3.create("svg:svg");
  const write = (x, y, text, size, weight = 400) => all.append("text").attr("x", x).attr("y", y).attr("fill", ink)
    .attr("font-family", font).attr("font-size", size).attr("font-weight", weight).text(text);
  const back = all.append("rect").attr("fill", root.getPropertyValue("--paper").trim());
  const [head, ...rest] = title.split(/ (?=\()/);
  write(16, 28, head, 16, 600);
  let y = 44;
  if (rest.length > 0) write(16, (y += 4), rest.join(" ").replace(/^\(|\)$/g, ""), 13);
  for (const panel of panels) {
    if (panel.title) write(16, (y += 18), panel.title, 13, 600);
    const copy = resolvedCopy(panel.svg);
    for (const [name, value] of Object.entries({x: 16, y: y + 6, width: panel.width, height: panel.height})) copy.setAttribute(name, value);
    all.node().append(copy);
    y += panel.height + 14;
  }
  let x = 16;
  for (const button of figure.querySelectorAll('.legend button[aria-pressed="true"]')) {
    const room = button.textContent.length * 7.5 + 56;
    if (x + room > width && x > 16) [x, y] = [16, y + 20];
    const key = resolvedCopy(button.querySelector("svg"));
    for (const [name, value] of Object.entries({x, y: y + 2, width: 30, height: 12})) key.setAttribute(name, value);
    all.node().append(key);
    write(x + 36, y + 12, button.textContent, 12);
    x += room;
  }
  const height = Math.ceil(y + (x > 16 ? 28 : 8));
  back.attr("width", width).attr("height", height);
  all.attr("viewBox", `0 0 ${width} ${height}`).attr("width", width).attr("height", height);
  return {node: all.node(), width, height};
}

const svgText = (node) => new XMLSerializer().serializeToString(node);

/// At twice the size, for slides.
async function pngOf({node, width, height}) {
  const image = new Image();
  image.src = `data:image/svg+xml;charset=utf-8,${encodeURIComponent(svgText(node))}`;
  await image.decode();
  const canvas = make("canvas", {width: 2 * width, height: 2 * height});
  canvas.getContext("2d").drawImage(image, 0, 0, 2 * width, 2 * height);
  return new Promise((done) => canvas.toBlob(done, "image/png"));
}

function saveButtons(figure, id, title) {
  const button = (kind, action) => {
    const made = make("button", {type: "button", "aria-label": `Save ${title} as ${kind}`}, `Save ${kind}`);
    made.addEventListener("click", action);
    return made;
  };
  return make("div", {class: "save"},
    button("SVG", () => download(`${id}.svg`, new Blob([svgText(pictureOf(figure, title).node)], {type: "image/svg+xml"}))),
    button("PNG", async () => download(`${id}.png`, await pngOf(pictureOf(figure, title)))));
}
