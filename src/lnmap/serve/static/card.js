// The view of a model: data, method, training curves, scores, isometry.

import { get, post } from "./api.js";
import { decimals, el, number, percent, svg, toast } from "./dom.js";
import { languageName } from "./languages.js";

const WIDTH = 300, HEIGHT = 110;

export function showCard(place, model) {
  let jobs = {};
  place.append(el("h1", {}, model.name));
  const body = el("div");
  place.append(body);

  async function load() {
    try {
      draw(await get(model.id, ""));
    } catch (error) {
      body.replaceChildren(el("p", { class: "lead" }, `The model could not be loaded: ${error.message}`));
    }
  }

  function draw(card) {
    jobs = card.jobs;
    const { facts, method } = card;
    body.replaceChildren(
      el("p", { class: "lead" }, `${method.title || method.name}. ${method.citation || ""}`),
      el("div", { class: "columns half" }, el("div", {},
        section("Data", table([
          ...["source", "target"].map((side) => [languageName(model, side), sideText(card.sides[side])]),
          ["Seed pairs", `${number(card.seed_pairs.count)}${card.seed_pairs.file ? `, from ${card.seed_pairs.file}` : ""}`],
          ["Marks", `${number(card.marks.right)} right, ${number(card.marks.wrong)} wrong, ${number(card.marks.added)} added`],
        ])),
        section("Scores", scores(card))), el("div", {},
        section("Method", table([
          ["Name", [method.name, facts.profile].filter(Boolean).join(", ")],
          ["Learns from", method.learns_from || "–"],
          ["Options", values(facts.options) || "–"],
          ["Trained", `${when(facts.created)}, ${facts.seconds ?? "–"} s on ${facts.device || "–"}, seed ${facts.seed ?? "–"}`],
          ["Versions", values(facts.versions)],
          ["Confidence", confidence(card.calibrated_on)],
        ])),
        section("Similarity of the two spaces", isometry(card)))),
      section("Training curves", curves(card.curves)));
  }

  const confidence = (candidates) => candidates === null ? "not calibrated"
    : candidates ? `calibrated on ${number(candidates)} judged candidates`
    : "as learnt on other languages: there are too few pairs to learn it from";
  const section = (title, content) => el("section", { class: "card", "aria-label": title }, el("h2", {}, title), content);
  const table = (rows) => el("dl", {}, ...rows.flatMap(([name, value]) => [el("dt", {}, name), el("dd", {}, value)]));
  const when = (stamp) => Date.parse(stamp) ? new Date(stamp).toLocaleString("en-GB", { dateStyle: "medium", timeStyle: "short" }) : "–";
  const values = (object) => Object.entries(object || {}).map(([name, value]) => `${name} ${value}`).join(", ");

  function sideText(side) {
    const origin = [side.file, side.source, side.policy && `policy ${side.policy}`].filter(Boolean).join(", ");
    return `${number(side.words)} words × ${side.dim}${origin ? ` (${origin})` : ""}`;
  }

  function scores(card) {
    if (!card.scores) {
      const { state, message } = card.jobs.scores;
      if (state === "running") return el("p", {}, "Computing …");
      if (state === "failed") return el("p", {}, `Scoring failed: ${message}`);
      return el("p", {}, "Not scored. Start the server with ", el("code", {}, "--test FILE"), " and a dictionary of test words.");
    }
    return el("div", {}, ...["forward", "backward"].map((way) => {
      const found = card.scores[way];
      const [from, to] = way === "forward" ? ["source", "target"] : ["target", "source"];
      const turned = found.reversed ? el("p", { class: "quiet" }, "On the same test file with its columns exchanged, which lists fewer of the right answers than a file made for this direction. ",
        el("code", {}, "--back-test FILE"), " names one.") : null;
      return el("div", { class: "score" }, el("h3", {}, `${languageName(model, from)} → ${languageName(model, to)}`), turned,
        el("p", {}, el("strong", { class: "big" }, `${decimals(found["p@1"], 1)} %`), ` ranked first, ${decimals(found["p@5"], 1)} % in the top five; `,
          `${number(found.n)} test words, interval ${decimals(found["p@1_interval"][0], 1)} to ${decimals(found["p@1_interval"][1], 1)}`),
        el("table", { class: "bands" }, el("caption", { class: "unseen" }, "Share of words whose first answer is right, by frequency"),
          el("tbody", {}, ...found.bands.map(band))));
    }));
  }

  function band(row) {
    const bar = el("span", { class: "bar", "aria-hidden": "true" }, el("span"));
    bar.firstChild.style.inlineSize = `${row["p@1"].toFixed(1)}%`;
    const ranks = row.to ? `${number(row.from)}–${number(row.to)}` : `from ${number(row.from)}`;
    return el("tr", {}, el("th", { scope: "row" }, `ranks ${ranks}`), el("td", {}, bar),
      el("td", { class: "figure" }, `${decimals(row["p@1"], 1)} %`), el("td", { class: "figure quiet" }, `${number(row.words)} words`));
  }

  function isometry(card) {
    const { state, share, message } = card.jobs.isometry;
    if (card.isometry) {
      const found = card.isometry;
      return table([
        ["Gromov-Hausdorff distance", `${decimals(found.gh, 4)} (0: same shape; ${number(found.words)} words)`],
        ["as published", decimals(found.gh_rows, 4)],
        ["Relational similarity", found.relational === null ? "–" : `${decimals(found.relational, 3)} (1: same shape)`],
        ["Eigenvector similarity", `${decimals(found.eigenvector, 2)} (0: alike)`],
      ]);
    }
    if (state === "running") return el("p", { role: "status" }, `Measuring … ${percent(share)} of this step`);
    const button = el("button", { type: "button", class: "main", id: "measure", click: async () => {
      try {
        await post(model.id, "isometry", {});
        load();
      } catch (error) {
        toast(`Measuring failed: ${error.message}`);
      }
    } }, "Measure");
    return el("div", {}, el("p", {}, state === "failed" ? `Measuring failed: ${message}` :
      "Gromov-Hausdorff distance and other measures; takes about a minute in the background."), state === "failed" ? null : button);
  }

  function curves(columns) {
    const drawn = Object.keys(columns).filter((name) => columns[name].some((run) => new Set(run).size > 1));
    if (!drawn.length) return el("p", { class: "quiet" }, "This method leaves no training log with more than one step.");
    return el("div", { class: "curves" }, ...drawn.map((name) => curve(name, columns[name])));
  }

  /** Draw one line per training: several trainings of a method are no continuation of each other. */
  function curve(name, runs) {
    const values = runs.flat(), longest = Math.max(...runs.map((run) => run.length));
    const low = Math.min(...values), high = Math.max(...values);
    const x = (i) => 6 + (i / Math.max(1, longest - 1)) * (WIDTH - 12);
    const y = (value) => HEIGHT - 10 - ((value - low) / (high - low || 1)) * (HEIGHT - 20);
    const line = (run) => run.map((value, i) => `${i ? "L" : "M"}${x(i).toFixed(1)} ${y(value).toFixed(1)}`).join("");
    const short = (value) => String(Number(value.toPrecision(4)));
    const last = runs.at(-1), span = `${short(last[0])} → ${short(last.at(-1))}`;
    const told = runs.length > 1 ? `${runs.length} trainings, the last ${span}` : span;
    return el("figure", { class: "curve" }, el("figcaption", {}, name.replaceAll("_", " ")),
      svg("svg", { viewBox: `0 0 ${WIDTH} ${HEIGHT}`, role: "img", "aria-label": `${name}: ${told} in ${last.length} steps, between ${short(low)} and ${short(high)}` },
        ...runs.map((run) => svg("path", { d: line(run) })),
        ...runs.map((run) => svg("circle", { cx: x(run.length - 1), cy: y(run.at(-1)), r: 3.5 }))),
      el("p", { class: "quiet figure" }, told));
  }

  /** Work in the background has moved on. */
  function update(state, before) {
    const moved = ["isometry", "scores"].some((name) => JSON.stringify(state[name]) !== JSON.stringify(jobs[name]));
    if (moved || (before && before.marks_version !== state.marks_version)) load();
  }

  return { enter: load, update };
}
