// The view that translates a word and shows why.

import { get } from "./api.js";
import { combobox } from "./combobox.js";
import { correctButton, correction } from "./correct.js";
import { decimals, el, number, say, signed, word } from "./dom.js";
import { answering, asked, inLanguage, languageName } from "./languages.js";
import { createMap } from "./map.js";
import { markButtons } from "./marking.js";
import { meter } from "./meter.js";

const TELLING = 5; // letters of a word that is a good example

export function showTranslate(place, model, { link }) {
  let direction = "forward", current = "", given = true, request, candidates = [], answers = null;
  const searchPlace = el("div", { class: "search" });
  const result = el("div", { class: "result" });
  place.append(el("h1", { class: "unseen" }, "Translate"), searchPlace, result);
  let field;

  /** Address of a word in this view. */
  function here(text, way, shown = given) {
    return link("translate", { w: text, d: way === "backward" && way, given: !shown && "no" });
  }

  function drawSearch() {
    const [from, to] = [languageName(model, asked(direction)), languageName(model, answering(direction))];
    field = combobox({
      label: `Word in ${from}`, side: asked(direction), model, language: model[asked(direction)].language,
      placeholder: `A word in ${from}`, value: current, big: true,
      onChoose: (text) => { location.hash = here(text, direction); },
    });
    const swap = el("button", { type: "button", class: "swap", click: turn, id: "swap" },
      el("span", {}, from), el("span", { class: "arrows", "aria-hidden": "true" }, "⇄"), el("span", {}, to),
      el("span", { class: "unseen" }, ": switch the direction"));
    searchPlace.replaceChildren(swap, field.box);
  }

  function turn() {
    const other = direction === "forward" ? "backward" : "forward";
    const best = candidates[0]?.word;
    location.hash = here(best || "", other);
  }

  function enter(parameters) {
    const wanted = parameters.get("d") === "backward" ? "backward" : "forward";
    const text = parameters.get("w") || "";
    const turned = wanted !== direction || !field;
    const hadFocus = searchPlace.contains(document.activeElement) && document.activeElement.id;
    direction = wanted;
    current = text;
    given = parameters.get("given") !== "no";
    if (turned) {
      drawSearch();
      if (hadFocus === "swap") document.getElementById("swap").focus();
    } else if (field.value !== text) field.value = text;
    if (text) look(text);
    else welcome();
  }

  function welcome() {
    request?.abort(); // an answer that is still on its way is not for this
    result.removeAttribute("aria-busy");
    candidates = [];
    const side = model[asked(direction)];
    const examples = el("p", { class: "examples" });
    result.replaceChildren(el("section", { class: "welcome" },
      el("p", { class: "lead" }, "Type a word above to see its translations, how certain they are, and its neighbours. ",
        `The vocabulary has ${number(side.words)} words.`), examples));
    get(model.id, "lexicon", { direction, sort: "frequency", limit: 200, given: false }).then((page) => {
      // Frequent, sure, and long enough to be no particle or abbreviation.
      const entries = page.entries.sort((a, b) => b.confidence - a.confidence);
      const words = entries.map((entry) => entry[asked(direction)]);
      words.sort((a, b) => (b.length >= TELLING) - (a.length >= TELLING));
      examples.replaceChildren("For example ", ...words.slice(0, 6).map((text) => wordLink(text, direction)));
    }).catch(() => {});
    if (matchMedia("(hover: hover)").matches) field.input.focus();
  }

  function wordLink(text, way) {
    return word(text, model[asked(way)].language, "a", { href: here(text, way), class: "word chip" });
  }

  async function look(text) {
    request?.abort();
    request = new AbortController();
    const { signal } = request;
    const parameters = { word: text, direction };
    result.setAttribute("aria-busy", "true");
    try {
      const found = await get(model.id, "translate", { ...parameters, k: 8, given, back: false }, signal); // first, because the word may be unknown
      if (found.rank === null && !found.subwords) { // a given word without a vector has no place in a space
        draw(found);
        return addWayBack(parameters, signal);
      }
      const [near, places] = await Promise.all([
        get(model.id, "neighbours", { ...parameters, k: 10 }, signal),
        get(model.id, "map", parameters, signal),
      ]);
      draw(found, near, places);
      addWayBack(parameters, signal); // takes longer than all the rest
    } catch (error) {
      if (error.name === "AbortError") return;
      refuse(text, error);
    } finally {
      if (!signal.aborted) result.removeAttribute("aria-busy");
    }
  }

  function refuse(text, error) {
    candidates = [];
    const near = error.spellings?.length
      ? el("p", { class: "examples" }, "Did you mean ", ...error.spellings.map((one) => wordLink(one, direction)), "?")
      : null;
    const message = error.code === "unknown_word"
      ? [word(text, model[asked(direction)].language, "strong"), " is not in the vocabulary."]
      : [`The word could not be looked up: ${error.message}`];
    result.replaceChildren(el("section", { class: "welcome", id: "unknown" }, el("p", { class: "lead" }, ...message), near));
    say(`${text}: ${error.message}. ${error.spellings?.length ? `Did you mean ${error.spellings.join(", ")}?` : ""}`);
  }

  function draw(found, near, places) {
    candidates = found.candidates;
    const language = model[asked(direction)].language;
    const size = number(model[asked(direction)].words);
    const head = el("div", { class: "headword" }, word(found.word, language, "h2", { id: "headword" }),
      el("p", { class: "quiet", id: "rank" }, found.subwords
        ? "not in the vocabulary: translated by its subwords" : found.rank === null
          ? "not in the vocabulary, but among the given pairs" : `word ${number(found.rank)} of ${size} by frequency`));
    answers = el("section", { class: "card answers", "aria-label": "Translations" });
    drawAnswers(found);
    say(`${found.word}: ${found.candidates.slice(0, 3).map((one) => `${one.word}${one.given ? " (given)" : ""}`).join(", ")}`);
    if (!near) return result.replaceChildren(head, answers);
    const map = createMap({ places, model, onChoose: (point) => {
      const way = point.side === "source" ? "forward" : "backward";
      location.hash = here(point.word, way);
    } });
    result.replaceChildren(head, el("div", { class: "columns" }, answers, map.card), neighbours(near));
    map.start();
  }

  function drawAnswers(found) {
    candidates = found.candidates;
    const list = el("ol", { class: "candidates", "aria-labelledby": "headword" },
      ...found.candidates.map((candidate) => candidateItem(found.word, candidate)));
    const note = model.calibrated ? null : el("p", { class: "quiet note" },
      "This model was trained without calibration, so it has no confidence.");
    const wrong = found.dropped.length ? el("div", { class: "dropped" }, el("h4", {}, "Marked wrong"),
      el("ul", {}, ...found.dropped.map((candidate) => droppedItem(found.word, candidate)))) : null;
    const said = model.given || wrong || found.candidates.some((one) => one.given) || !given;
    answers.replaceChildren(el("h3", {}, "Translations"), list, ...[note, wrong, said ? givenSwitch(found.word) : null].filter(Boolean));
  }

  /** Draw the answers again after a mark; the focus stays on the same button of the same pair. */
  async function refresh() {
    const { signal } = request;
    try {
      const found = await get(model.id, "translate", { word: current, direction, k: 8, given }, signal);
      if (signal.aborted || !answers || answers.querySelector("form")) return;
      const focused = answers.contains(document.activeElement) && document.activeElement;
      const [pair, mark] = focused ? [focused.closest("[data-pair]")?.dataset.pair, focused.dataset.mark] : [];
      drawAnswers(found);
      if (pair) [...answers.querySelectorAll("[data-pair]")].find((item) => item.dataset.pair === pair)
        ?.querySelector(mark ? `[data-mark="${mark}"]` : "a, button")?.focus();
    } catch (error) {
      if (error.name !== "AbortError") refuse(current, error);
    }
  }

  function givenSwitch(text) {
    const box = el("input", { type: "checkbox", change: () => { location.hash = here(text, direction, box.checked); } });
    box.checked = given;
    return el("label", { class: "check" }, box, " given and marked translations");
  }

  function pairOf(one, other) {
    return direction === "backward" ? { source: other, target: one } : { source: one, target: other };
  }

  function candidateItem(text, candidate) {
    const back = direction === "forward" ? "backward" : "forward";
    const pair = pairOf(text, candidate.word);
    const marks = markButtons(model, pair, candidate.mark, marked);
    const href = here(candidate.word, back);
    const item = el("li", { class: "candidate", "data-pair": candidate.word });
    const pencil = correctButton(pair, direction, () => {
      if (item.querySelector("form")) return close();
      const editor = correction(model, pair, direction, (right) => { close(); if (right) marked(); });
      item.append(editor.form);
      pencil.setAttribute("aria-expanded", "true");
      editor.focus();
    });
    function close() {
      item.querySelector("form")?.remove();
      pencil.setAttribute("aria-expanded", "false");
      pencil.focus();
    }
    marks.group.append(pencil);
    item.append(
      el("div", { class: "line" },
        word(candidate.word, model[answering(direction)].language, "a", { href, class: "word" }), marks.group),
      el("div", { class: "line facts" }, meter(candidate.confidence, candidate.given, candidate.mark),
        candidate.back === null ? null : wayBack(candidate),
        el("span", { class: "scores" },
          candidate.given && candidate.rank ? el("span", { title: "its place in the model's own order" }, `model’s no. ${number(candidate.rank)}`) : null,
          el("span", { title: "match: closeness, corrected for words that are close to everything (CSLS)" }, `match ${decimals(candidate.csls)}`),
          el("span", { title: "closeness of the two words in the common space (cosine)" }, `closeness ${decimals(candidate.cosine)}`))));
    return item;
  }

  function wayBack(candidate) {
    return el("span", { class: candidate.returns ? "back yes" : "back", title: "translated back" },
      signed("↩\u2009", "translated back: "), word(candidate.back, model[asked(direction)].language),
      signed(candidate.returns ? " ✓" : "", candidate.returns ? " returns" : " does not return"));
  }

  /** Add what candidates are translated back to; nothing else moves, somebody may be about to click it. */
  async function addWayBack(parameters, signal) {
    const found = await get(model.id, "translate", { ...parameters, k: 8, given }, signal).catch(() => null);
    if (!found || signal.aborted) return;
    const items = new Map([...answers.querySelectorAll("li.candidate")].map((item) => [item.dataset.pair, item]));
    for (const candidate of found.candidates) {
      const item = items.get(candidate.word);
      if (item && candidate.back !== null && !item.querySelector(".back")) item.querySelector(".scores").before(wayBack(candidate));
    }
  }

  function droppedItem(text, candidate) {
    const marks = markButtons(model, pairOf(text, candidate.word), candidate.mark, marked);
    return el("li", { class: "line", "data-pair": candidate.word },
      word(candidate.word, model[answering(direction)].language, "del"), marks.group);
  }

  function marked() {
    window.dispatchEvent(new Event("lnmap-marked"));
  }

  function neighbours(near) {
    const block = (title, hint, words, way) => el("section", { class: "card near" }, el("h3", {}, title),
      el("p", { class: "quiet" }, hint),
      el("ul", {}, ...words.map((one) => el("li", {}, wordLink(one.word, way),
        el("span", { class: "figure quiet" }, decimals(one.cosine))))));
    const back = direction === "forward" ? "backward" : "forward";
    return el("div", { class: "columns even" },
      block(`Nearest words ${inLanguage(model, asked(direction))}`, "closeness (cosine) in the original vectors",
        near.own, direction),
      block(`Nearest words ${inLanguage(model, answering(direction))}`, "closeness (cosine) after the alignment", near.other, back));
  }

  /** Show what marks change, made here or elsewhere. */
  async function update(state, before) {
    if (!before || before.marks_version === state.marks_version || !answers?.isConnected) return;
    await refresh();
  }

  return { enter, update, leave: () => request?.abort() };
}
