// Claims as cards: the verdict and the claim; theirs, ours and the reason open on a click.

const verdictText = {holds: "holds", "in part": "holds in part", fails: "fails"};
const unmeasured = "not measured yet";
const verdictOf = (claim) => verdictText[claim.verdict] ?? unmeasured;

/// "holds: 5 · holds in part: 2 · fails: 1 · not measured yet: 8".
function tallyOf(claims) {
  const counts = [...Object.values(verdictText), unmeasured].map((text) => [text, claims.filter((claim) => verdictOf(claim) === text).length]);
  return counts.filter(([, count]) => count > 0).map(([text, count]) => `${text}: ${count}`).join(" · ");
}

function cardOf(claim) {
  const figure = allFigures().find(({studies}) => studies.includes(claim.study));
  const hasFigure = figure && groupsFor(figure).length > 0;
  return make("details", {class: "claim", "aria-label": claim.claim, "data-verdict": claim.verdict ?? "", "data-study": claim.study ?? ""},
    make("summary", {}, make("span", {class: "verdict", "data-verdict": claim.verdict ?? ""}, verdictOf(claim)), " ", make("span", {}, claim.claim)),
    make("dl", {},
      make("dt", {}, "Theirs"), make("dd", {}, claim.theirs, " ", make("small", {}, `(${claim.source})`)),
      make("dt", {}, "Ours"), make("dd", {}, claim.ours ?? "–"),
      ...(claim.reason ? [make("dt", {}, "Why"), make("dd", {}, claim.reason)] : [])),
    hasFigure ? make("p", {}, make("a", {href: `#${figure.id}`}, `Figure: ${figure.title}`)) : null);
}

function addClaims() {
  if (page.claims.length === 0) return;
  const section = addSection("Claim by claim");
  section.append(make("p", {id: "tally"}, tallyOf(page.claims)), make("div", {class: "claims"}, ...page.claims.map(cardOf)));
}
