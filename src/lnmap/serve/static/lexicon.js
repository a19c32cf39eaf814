// The induced lexicon: browse, filter, judge, add, download.

import { address, get, listFormats, post } from "./api.js";
import { combobox } from "./combobox.js";
import { correctButton, correction } from "./correct.js";
import { decimals, el, number, say, signed, toast, word } from "./dom.js";
import { answering, asked, inLanguage, languageName } from "./languages.js";
import { markButtons, refreshMarks } from "./marking.js";
import { meter } from "./meter.js";
import { trainingCard } from "./training.js";

const PAGE = 50;
const SHOWN = { all: "All words", unmarked: "Not marked yet", right: "Marked right", wrong: "Marked wrong", added: "Added" };

export function showLexicon(place, model, { link }) {
  let query = {}, rows = [], request, timer, loaded = -1;
  const sorts = { frequency: "Frequent first", surest: "Surest first", unsurest: "Least sure first", doubtful: "Frequent and unsure first" };

  const filter = el("input", { type: "search", "aria-label": "Filter by part of a word", placeholder: "Filter words", maxlength: 100,
    dir: "auto", input: () => { clearTimeout(timer); timer = setTimeout(() => change({ text: filter.value.trim() }), 250); } });
  const select = (label, name, choices) => el("select", { "aria-label": label, name, change: (event) => change({ [name]: event.target.value }) },
    ...Object.entries(choices).map(([value, title]) => el("option", { value }, title)));
  const way = select("Direction", "direction", {
    forward: `${languageName(model, "source")} → ${languageName(model, "target")}`,
    backward: `${languageName(model, "target")} → ${languageName(model, "source")}`,
  });
  const order = select("Order", "sort", sorts);
  const show = select("Marks", "show", SHOWN);
  const mutual = el("input", { type: "checkbox", change: () => change({ mutual: mutual.checked ? "true" : "" }) });
  const given = el("input", { type: "checkbox", change: () => change({ given: given.checked ? "" : "no" }) });
  const tokens = el("input", { type: "checkbox", change: () => change({ tokens: tokens.checked ? "true" : "" }) });
  const body = el("tbody", { keydown: onKey });
  const head = el("tr");
  const table = el("table", {}, el("caption", { class: "unseen" }, "The induced lexicon"), el("thead", {}, head), body);
  const told = el("p", { class: "quiet", id: "told" });
  const earlier = el("button", { type: "button", click: () => turnPage(-1) }, "Previous");
  const later = el("button", { type: "button", click: () => turnPage(1) }, "Next");
  const counts = el("p", { class: "counts", id: "counts" });
  const training = trainingCard(model);

  place.append(
    el("h1", {}, "Lexicon"),
    el("p", { class: "lead" }, "The best translation of every word. Mark what is right or wrong, correct it in its place, add what is missing: ",
      "it counts at once, in the dictionary that you download, too. ", el("a", { href: link("help") }, "What the numbers mean")),
    el("div", { class: "columns half" },
      el("div", {}, el("section", { class: "card add", "aria-label": "Add a pair" }, el("h2", {}, "Add a pair"),
        el("p", { class: "quiet" }, "Add the right translation of a word that the table below gets wrong."), adder()), training.card),
      el("section", { class: "card home", "aria-label": "Download" }, el("h2", {}, "Download"), counts, downloads())),
    el("section", { class: "card list", "aria-label": "Entries" },
      el("div", { class: "controls" }, filter, way, order, show,
        el("label", { class: "check" }, mutual, " mutual translations only"),
        el("label", { class: "check" }, tokens, " numbers and signs, too"),
        el("label", { class: "check" }, given, " given and marked translations")),
      el("div", { class: "scroll", tabindex: "-1" }, table),
      el("div", { class: "line pager" }, told, el("span", {}, earlier, later)),
      el("p", { class: "quiet hint" }, "Keys in the table: ", el("kbd", {}, "↑"), " ", el("kbd", {}, "↓"), " move, ",
        el("kbd", {}, "R"), " right, ", el("kbd", {}, "W"), " wrong, ", el("kbd", {}, "C"), " correct, ", el("kbd", {}, "U"), " undo.")));

  function adder() {
    const sides = ["source", "target"].map((side) => combobox({
      label: `Word ${inLanguage(model, side)}`, side, model, language: model[side].language,
      placeholder: languageName(model, side), onChoose: () => side === "source" ? sides[1].input.focus() : button.focus(),
    }));
    const button = el("button", { type: "submit", class: "main" }, "Add");
    const form = el("form", { class: "adder", submit: async (event) => {
      event.preventDefault();
      const [source, target] = sides.map((one) => one.value);
      if (!source || !target) return toast("Enter a word in each language.");
      try {
        const made = await post(model.id, "marks", { source, target, mark: "added" });
        toast("Added: ", word(made.source, model.source.language), " – ", word(made.target, model.target.language),
          made.known ? "" : ". One of the words is not in its vocabulary, so align cannot learn from the pair.");
        sides.forEach((one) => { one.value = ""; });
        sides[0].input.focus();
        marked();
      } catch (error) {
        toast(`Not added: ${error.message}`);
      }
    } }, sides[0].box, sides[1].box, button);
    return form;
  }

  function downloads() {
    const file = (title, hint, parameters) => el("li", {},
      el("a", { href: address(model.id, "marks/export", parameters), download: "" }, title), el("span", { class: "quiet" }, ` ${hint}`));
    return [wholeDictionary(), el("ul", { class: "files" },
      file("Seed with my marks", "the pairs the model learnt from, corrected (.tsv)", { format: "tsv", seed: "with" }),
      file("Only my marks", "right and added pairs (.tsv)", { format: "tsv", seed: "without" }),
      file("For a spreadsheet", "right and added pairs (.csv)", { format: "csv", seed: "without" }))];
  }

  function wholeDictionary() {
    const format = el("select", { "aria-label": "Format of the dictionary", change: update });
    const both = el("input", { type: "checkbox", change: update });
    const link = el("a", { download: "" }, "Download the whole dictionary");
    function update() {
      link.href = address(model.id, "dictionary", { format: format.value || "tsv", both: both.checked, translations: 3 });
    }
    listFormats().then((formats) => {
      format.append(...formats.map((one) => el("option", { value: one.name, title: one.opens }, `${one.name}: ${one.title}`)));
      update();
    }).catch(() => {});
    update();
    return el("p", { class: "whole" }, link, " ", format, " ", el("label", { class: "check" }, both, " both directions"));
  }

  function change(values) {
    location.hash = link("lexicon", { ...query, page: "", ...values });
  }

  function turnPage(step) {
    change({ page: String((Number(query.page) || 0) + step || "") });
  }

  function enter(parameters) {
    query = Object.fromEntries(parameters);
    filter.value === query.text || document.activeElement === filter || (filter.value = query.text || "");
    way.value = query.direction === "backward" ? "backward" : "forward";
    order.value = query.sort in sorts ? query.sort : "frequency";
    show.value = query.show in SHOWN ? query.show : "all";
    mutual.checked = query.mutual === "true";
    given.checked = query.given !== "no";
    tokens.checked = query.tokens === "true";
    load();
  }

  async function load() {
    request?.abort();
    request = new AbortController();
    const { signal } = request;
    const offset = Math.max(0, Number(query.page) || 0) * PAGE;
    try {
      const found = await get(model.id, "lexicon", { direction: way.value, sort: order.value, show: show.value,
        text: (query.text || "").slice(0, 100), mutual: mutual.checked, given: given.checked, tokens: tokens.checked, offset, limit: PAGE }, signal);
      draw(found, offset);
    } catch (error) {
      if (error.name !== "AbortError") told.textContent = `The lexicon could not be loaded: ${error.message}`;
    }
  }

  function draw(found, offset) {
    loaded = found.known;
    const direction = way.value;
    const title = (text, name = "") => el("th", { scope: "col", class: name }, text);
    head.replaceChildren(title(languageName(model, asked(direction))), title(languageName(model, answering(direction))),
      title("Confidence"), title("Returns", "wide middle"), title("Match", "wide end"), title("Rank", "wide end"), title("Mark", "end"));
    rows = found.entries.map((entry) => makeRow(entry, direction));
    body.replaceChildren(...rows.map((row) => row.node));
    const end = offset + found.entries.length;
    const growing = found.known < found.words ? ` · ${number(found.known)} of ${number(found.words)} words searched so far` : "";
    told.textContent = found.total ? `${number(Math.min(offset + 1, end))}–${number(end)} of ${number(found.total)}${growing}` : `Nothing here${growing}`;
    earlier.disabled = offset === 0;
    later.disabled = end >= found.total;
    say(`${number(found.total)} entries`);
  }

  function makeRow(entry, direction) {
    const pair = { source: entry.source, target: entry.target };
    const marks = markButtons(model, pair, entry.mark, marked);
    const pencil = correctButton(pair, direction, () => correct(row, entry, direction));
    marks.group.append(pencil);
    const cell = (side) => el("td", {}, word(entry[side], model[side].language, "a", {
      class: "word", href: link("translate", { w: entry[side], d: side === "target" && "backward" }) }));
    const returns = entry.returns === null ? "–" : signed(entry.returns ? "✓" : "", entry.returns ? "yes" : "no");
    const node = el("tr", {}, cell(asked(direction)), cell(answering(direction)), el("td", {}, meter(entry.confidence, entry.given, entry.mark)),
      el("td", { class: "wide middle" }, returns), el("td", { class: "wide end figure" }, decimals(entry.csls)),
      el("td", { class: "wide end figure" }, entry.rank === null ? "–" : number(entry.rank)), el("td", { class: "end" }, marks.group));
    const row = { node, marks, pencil, form: null };
    return row;
  }

  /** Open a correction below a row, or close it; what was corrected takes the row's place. */
  function correct(row, entry, direction) {
    if (row.form) return close();
    const editor = correction(model, { source: entry.source, target: entry.target }, direction, (right, mark) => {
      close();
      if (!right) return;
      const made = makeRow({ ...entry, ...right, csls: null, cosine: null, confidence: null, returns: null, given: true, mark }, direction);
      row.node.replaceWith(made.node);
      rows[rows.indexOf(row)] = made;
      made.pencil.focus();
      marked();
    });
    row.form = el("tr", { class: "editor" }, el("td", { colspan: 7 }, editor.form));
    row.node.after(row.form);
    row.pencil.setAttribute("aria-expanded", "true");
    editor.focus();
    function close() {
      row.form.remove();
      row.form = null;
      row.pencil.setAttribute("aria-expanded", "false");
      row.pencil.focus();
    }
  }

  function onKey(event) {
    const at = rows.findIndex((row) => row.node.contains(event.target));
    if (at < 0 || event.ctrlKey || event.metaKey || event.altKey) return;
    const step = { ArrowDown: 1, ArrowUp: -1 }[event.key];
    const mark = { r: "right", w: "wrong" }[event.key.toLowerCase()];
    const { marks } = rows[at];
    if (step && rows[at + step]) {
      const place = [...rows[at].node.querySelectorAll("a, button")].indexOf(event.target);
      rows[at + step].node.querySelectorAll("a, button")[place]?.focus();
    } else if (mark && marks.get() !== mark) marks.press(mark);
    else if (event.key.toLowerCase() === "c") rows[at].pencil.click();
    else if (event.key.toLowerCase() === "u" && marks.get()) marks.press(marks.get() === "wrong" ? "wrong" : "right");
    else if (!step && !mark) return;
    event.preventDefault();
  }

  function marked() {
    window.dispatchEvent(new Event("lnmap-marked"));
  }

  /** Show marks that were made elsewhere, and what has been added to the lexicon. */
  async function update(state, before) {
    const { right, wrong, added } = state.marks;
    training.update(state);
    counts.textContent = `${number(right)} right, ${number(wrong)} wrong, ${number(added)} added`;
    const busy = body.contains(document.activeElement);
    const grown = state[way.value].known !== loaded && loaded >= 0 && loaded < PAGE * 2 + (Number(query.page) || 0) * PAGE;
    if (grown && !busy) return load();
    if (!before || before.marks_version === state.marks_version) return;
    if (show.value in { right: 1, wrong: 1, added: 1 }) return busy ? undefined : load();
    await refreshMarks(model, rows.map((row) => row.marks), state, before);
  }

  return { enter, update, leave: () => { request?.abort(); clearTimeout(timer); } };
}
