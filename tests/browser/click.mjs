// Clicks through reports in a headless browser, and looks for errors, requests and what is too wide.
//
// usage: node click.mjs CHROMIUM PAGE...

import assert from "node:assert/strict";
import { mkdirSync, readFileSync } from "node:fs";
import path from "node:path";
import puppeteer from "puppeteer-core";

const ROOT = path.resolve(import.meta.dirname, "../..");
const PICTURES = path.join(ROOT, "target/browser/pictures");
const [, , chromium, ...files] = process.argv;
const WIDTHS = [1400, 800, 390];

let checks = 0;
const check = async (name, what) => {
  try {
    await what();
  } catch (error) {
    console.error(`FAILED: ${name}`);
    throw error;
  }
  checks += 1;
};

// A page that must neither complain nor ask for anything but itself.
const opened = async (browser, file, { width = 1400, theme = "light", script = true } = {}) => {
  const page = await browser.newPage();
  page.setDefaultTimeout(20_000);
  page.complaints = [];
  page.on("console", (message) => page.complaints.push(`${message.type()}: ${message.text()}`));
  page.on("pageerror", (error) => page.complaints.push(`error: ${error.message}`));
  page.on("request", (request) => {
    const url = request.url();
    if (url !== `file://${file}` && !url.startsWith("data:")) page.complaints.push(`request: ${url}`);
  });
  await page.setJavaScriptEnabled(script);
  await page.setViewport({ width, height: 900 });
  await page.emulateMediaFeatures([{ name: "prefers-color-scheme", value: theme }]);
  await page.goto(`file://${file}`, { waitUntil: "load" });
  // Charts are drawn in a microtask; two frames later they are on the screen.
  if (script) await page.evaluate(() => new Promise((done) => requestAnimationFrame(() => requestAnimationFrame(done))));
  return page;
};
const closed = async (page) => {
  assert.deepEqual(page.complaints, []);
  await page.close();
};

// Rows that a filter can hide: labels and transactions.
const filterable = (page) => page.$$eval("#label-table tbody tr:not(.total)", (rows) =>
  rows.filter((row) => !row.hidden).map((row) => row.cells[0].textContent.trim()));
const labels = (page) => page.$$eval("#label-table tbody:first-of-type tr", (rows) =>
  rows.filter((row) => !row.hidden).map((row) => row.cells[0].textContent.trim()));
const column = (page, head) => page.$$eval("#label-table thead th", (heads, wanted) =>
  heads.findIndex((one) => one.textContent.trim().startsWith(wanted)), head);
const numbers = async (page, at) => page.$$eval("#label-table tbody:first-of-type tr", (rows, cell) =>
  rows.map((row) => Number(row.cells[cell].textContent.replace(/,/g, ""))), at);
const sort = async (page, head) => {
  const at = await column(page, head);
  await (await page.$$("#label-table thead button"))[at].click();
  return at;
};
const sorted = (values, sign) => values.every((value, at) => at === 0 || sign * (value - values[at - 1]) >= 0);

const sorting = async (page) => {
  const before = await labels(page);
  const at = await sort(page, "p99");
  assert.ok(sorted(await numbers(page, at), -1), "largest first");
  assert.equal(await page.$eval("#label-table th[aria-sort]", (head) => head.getAttribute("aria-sort")), "descending");
  await sort(page, "p99");
  assert.ok(sorted(await numbers(page, at), 1), "then smallest first");
  await sort(page, "p99");
  assert.deepEqual(await labels(page), before, "then as they were");
  await sort(page, "label");
  assert.deepEqual(await labels(page), [...before].sort((one, other) => one.localeCompare(other)));
  assert.equal(await page.$eval("#label-table tbody.fixed th", (cell) => cell.textContent.trim()), "all", "the total stays last");
};

const filtering = async (page) => {
  const all = await filterable(page);
  await page.type("#filter", "ROOM 3");
  const left = await filterable(page);
  const wanted = all.filter((label) => label.includes("room 3"));
  assert.ok(wanted.length > 3 && wanted.includes("room 3 / journey") && all.includes("visit"));
  assert.deepEqual(left, wanted);
  assert.equal(await page.$eval("#filtered", (one) => one.textContent), `${left.length} of ${all.length}`);
  assert.ok(await page.$eval("tr.total", (row) => row.checkVisibility()), "the total stays");
  await page.$eval("#filter", (one) => { one.value = ""; one.dispatchEvent(new Event("input")); });
  assert.equal((await filterable(page)).length, all.length);
};

const isInside = (page, inner, outer) => page.evaluate((one, other) => {
  const [a, b] = [one, other].map((selector) => document.querySelector(selector).getBoundingClientRect());
  return a.top >= b.top - 1 && a.bottom <= b.bottom + 1;
}, inner, outer);

// A table of sixty labels scrolls in its place, with the sum in sight, and can be shown whole.
const unfolding = async (page) => {
  const total = "#label-table tr.total td";
  assert.ok(await isInside(page, total, "#label-scroll"), "the sum is in sight");
  assert.ok(!(await isInside(page, "#label-table tr.transaction", "#label-scroll")));
  const button = "#label-scroll + button.unfold";
  assert.equal(await page.$eval(button, (one) => one.textContent), "Show all 63 rows");
  await page.click(button);
  assert.ok(await isInside(page, "#label-table tr.transaction", "#label-scroll"), "all rows are in sight");
  await page.click(button);
  assert.ok(!(await isInside(page, "#label-table tr.transaction", "#label-scroll")));
};

const legend = (page) => page.$$eval("#chart-curves .u-series .u-label", (all) => all.slice(1).map((one) => one.textContent));
const choosing = async (page) => {
  const before = await legend(page);
  assert.equal(before.length, 11, `${before}`);
  assert.match(await page.$eval("#curves-note", (one) => one.checkVisibility() && one.textContent), /^Shown are 10 of 60 labels/);
  const offered = await page.$$eval("#curve option", (all) => all.slice(1).map((one) => [one.value, one.textContent]));
  assert.equal(offered.length, 50);
  const [value, name] = offered.at(-1);
  const old = await picture(page, "chart-curves");
  await page.select("#curve", value);
  const after = await legend(page);
  assert.equal(after.length, 11);
  assert.ok(after.includes(name) && after[0] === "all", `${after}`);
  assert.notEqual(await picture(page, "chart-curves"), old);
  const [rest] = await page.$$eval("#course-note", (all) => all.map((one) => one.textContent));
  assert.match(rest, /the first 20 labels can be chosen/);
};

const background = (page) => page.evaluate(() => getComputedStyle(document.body).backgroundColor);
const picture = (page, id) => page.$eval(`#${id} canvas`, (canvas) => canvas.toDataURL());

const theme = async (page) => {
  const [colour, chart] = [await background(page), await picture(page, "chart-rate")];
  await page.click("#theme");
  const other = await background(page);
  assert.notEqual(other, colour);
  await page.waitForFunction((old) => document.querySelector("#chart-rate canvas").toDataURL() !== old, {}, chart);
  await page.reload();
  assert.equal(await background(page), other, "it is remembered");
  await page.click("#theme");
  assert.equal(await background(page), colour);
};

// What the legend says of the moment at this share of a chart's width, in seconds.
const moment = async (page, id, share) => {
  const box = await (await page.$(`#${id} .u-over`)).boundingBox();
  await page.mouse.move(box.x + box.width * share, box.y + box.height / 2);
  const text = await page.waitForFunction((chart) => {
    const value = document.querySelector(`#${chart} .u-legend .u-value`).textContent;
    return /^\d/.test(value) && value;
  }, {}, id);
  return (await text.jsonValue()).split(" ")[0].split(":").reduce((sum, part) => sum * 60 + Number(part), 0);
};
const drag = async (page, id, from, to) => {
  await page.$eval(`#${id}`, (chart) => chart.scrollIntoView({ block: "center" }));
  const box = await (await page.$(`#${id} .u-over`)).boundingBox();
  const y = box.y + box.height / 2;
  await page.mouse.move(box.x + box.width * from, y);
  await page.mouse.down();
  await page.mouse.move(box.x + box.width * to, y, { steps: 8 });
  await page.mouse.up();
};
const isZoomed = (page) => page.$eval("#unzoom", (button) => !button.disabled);

const zooming = async (page) => {
  await page.$eval("#chart-rate", (chart) => chart.scrollIntoView({ block: "center" }));
  const whole = [await moment(page, "chart-rate", 0.02), await moment(page, "chart-rate", 0.98)];
  assert.ok(whole[1] - whole[0] > 1_000, `${whole}`);
  assert.ok(!(await isZoomed(page)));
  const heat = await picture(page, "chart-heat");
  await drag(page, "chart-rate", 0.4, 0.6);
  assert.ok(await isZoomed(page));
  for (const id of ["chart-rate", "chart-times", "chart-load", "chart-opens"]) {
    await page.$eval(`#${id}`, (chart) => chart.scrollIntoView({ block: "center" }));
    const [from, to] = [await moment(page, id, 0.02), await moment(page, id, 0.98)];
    assert.ok(from > whole[1] * 0.38 && to < whole[1] * 0.62, `${id}: ${from} to ${to}`);
  }
  assert.notEqual(await picture(page, "chart-heat"), heat, "the heat map is zoomed too");
  await page.click("#unzoom");
  assert.ok(!(await isZoomed(page)));
  await page.$eval("#chart-rate", (chart) => chart.scrollIntoView({ block: "center" }));
  assert.equal(await moment(page, "chart-rate", 0.02), whole[0]);
  await drag(page, "chart-heat", 0.2, 0.4);
  assert.ok(await isZoomed(page));
  const box = await (await page.$("#chart-heat .u-over")).boundingBox();
  await page.mouse.click(box.x + 50, box.y + 50, { count: 2 });
  assert.ok(!(await isZoomed(page)), "a double click shows the whole run");
};

const hovering = async (page) => {
  await page.$eval("#chart-heat", (chart) => chart.scrollIntoView({ block: "center" }));
  const box = await (await page.$("#chart-heat .u-over")).boundingBox();
  let told = "";
  for (let share = 0.95; share > 0 && !told; share -= 0.05) {
    await page.mouse.move(box.x + box.width / 2, box.y + box.height * share);
    told = await page.$eval("#heat-value", (one) => one.textContent);
  }
  assert.match(told, /^\d+:\d\d \(\d\d:\d\d:\d\d UTC\): [\d,]+ from [\d.]+ (µs|ms|s) to [\d.]+ (µs|ms|s)$/);
};

const scales = async (page) => {
  for (const [box, chart] of [["log-course", "chart-times"], ["log-curves", "chart-curves"]]) {
    const before = await picture(page, chart);
    await page.click(`#${box}`);
    assert.notEqual(await picture(page, chart), before, box);
    await page.click(`#${box}`);
    assert.equal(await picture(page, chart), before, box);
  }
  const series = "#chart-curves .u-series:nth-child(3)";
  await page.click(`${series} .u-label`);
  assert.ok(await page.$(`${series}.u-off`), "a curve can be hidden");
  await page.click("#log-curves");
  assert.ok(await page.$(`${series}.u-off`), "and stays hidden");
};

const lanes = async (page) => {
  const [rate, load] = [await picture(page, "chart-rate"), await picture(page, "chart-load")];
  const options = await page.$$eval("#lane option", (all) => all.map((one) => one.textContent));
  assert.equal(options.length, 21, `${options}`);
  await page.select("#lane", "1");
  assert.notEqual(await picture(page, "chart-rate"), rate, "the rate is that of the label");
  assert.equal(await picture(page, "chart-load"), load, "the load is the whole run's");
  await page.select("#lane", "-1");
  assert.equal(await picture(page, "chart-rate"), rate);
};

// On paper: heads of columns, charts within the page, small print no larger than the table's, no licence.
const printing = async (page) => {
  await page.evaluate(() => {
    window.addEventListener("beforeprint", () => {
      window.widest = Math.max(...[...document.querySelectorAll("canvas")].map((one) => one.clientWidth));
    });
  });
  const pdf = await page.pdf({ format: "A4" });
  assert.ok(pdf.length > 20_000, `${pdf.length} bytes`);
  assert.equal(await page.$eval("details.file", (details) => details.open), false, "it is folded again");
  assert.ok((await page.evaluate(() => window.widest)) <= 700, "charts are as wide as paper");
  await page.setViewport({ width: 703, height: 900 });
  await page.emulateMediaType("print");
  const visible = (selector) => page.$$eval(selector, (all) => all.map((one) => one.checkVisibility()));
  const heads = await visible("#label-table thead th button");
  assert.ok(heads.length > 10 && heads.every(Boolean), "columns have their names");
  for (const selector of [".cue", "#theme", ".bar", "footer details"]) {
    assert.ok(!(await visible(selector)).includes(true), `${selector} is not printed`);
  }
  const sizes = await page.$$eval("#label-table th, #label-table td, #causes td, #causes code", (all) =>
    [...new Set(all.map((one) => getComputedStyle(one).fontSize))]);
  assert.equal(sizes.length, 1, `${sizes}`);
  const wide = await page.$$eval("main .scroll > table", (all) => all.map((one) => one.getBoundingClientRect().right));
  assert.ok(wide.every((right) => right <= 704), `${wide}`);
  await page.emulateMediaType("screen");
  await page.setViewport({ width: 1400, height: 900 });
};

const everything = async (browser, file) => {
  const page = await opened(browser, file);
  for (const [name, what] of Object.entries({ sorting, filtering, unfolding, theme, zooming, hovering, scales, choosing, lanes, printing })) {
    await check(name, () => what(page));
  }
  await closed(page);
};

// Whatever a page is made of, at every width and in both themes.
const looks = async (browser, file) => {
  const name = path.basename(path.dirname(file)) === "pages" ? path.basename(file, ".html") : path.basename(path.dirname(file));
  for (const width of WIDTHS) {
    for (const theme of ["light", "dark"]) {
      await check(`${name} at ${width} px, ${theme}`, async () => {
        const page = await opened(browser, file, { width, theme });
        const shown = await page.evaluate(() => ({
          wide: document.documentElement.scrollWidth,
          evil: window.evil,
          rows: document.querySelectorAll("#label-table tbody tr").length,
          samples: document.querySelector(".tile b").textContent,
          charts: [...document.querySelectorAll(".chart")].filter((one) => one.clientWidth > 0 && !one.querySelector("canvas")).map((one) => one.id),
        }));
        const words = await page.evaluate(() => {
          // Codes and short names stay in one line; texts of causes do not go beyond the edge.
          const codes = [...document.querySelectorAll("code.code, #label-table bdi.label")].filter((one) => /^[\w.-]{1,16}$/.test(one.textContent));
          const isBroken = (one) => one.checkVisibility() && one.getClientRects().length > 0
            && one.getBoundingClientRect().height > 1.9 * Number.parseFloat(getComputedStyle(one).lineHeight);
          const isCut = (one) => one.getBoundingClientRect().right > innerWidth;
          const lacksCue = (one) => one.scrollWidth > one.clientWidth + 1 && !(one.classList.contains("goes-on") && one.previousElementSibling.checkVisibility());
          return {
            broken: codes.filter(isBroken).map((one) => one.textContent),
            cut: [...document.querySelectorAll("#causes td.example")].filter(isCut).length,
            uncued: [...document.querySelectorAll(".scroll")].filter(lacksCue).length,
          };
        });
        assert.deepEqual(words, { broken: [], cut: 0, uncued: 0 });
        await page.screenshot({ path: path.join(PICTURES, `${name}-${width}-${theme}.png`), fullPage: true });
        assert.ok(shown.wide <= width, `it is ${shown.wide} px wide`);
        assert.equal(shown.evil, undefined);
        assert.match(shown.samples, /^[\d,]+$/);
        if (name !== "empty") {
          assert.ok(shown.rows > 0);
          assert.deepEqual(shown.charts, [], "each chart is drawn");
        }
        await closed(page);
      });
    }
  }
};

const withoutScript = async (browser, file) => check("without a script", async () => {
  const page = await opened(browser, file, { script: false });
  const visible = (selector) => page.$$eval(selector, (all) => all.filter((one) => one.checkVisibility()).length);
  assert.equal(await visible(".scripted-only"), 0);
  assert.equal(await visible("#label-table tbody:first-of-type tr"), 60);
  assert.ok((await visible(".tile")) > 5 && (await visible("#thresholds td")) > 5);
  await closed(page);
});

// Text that came into the page by whatever way would still not run.
const policy = async (browser, file) => check("the content security policy", async () => {
  const page = await opened(browser, file);
  await page.evaluate(() => {
    document.body.insertAdjacentHTML("beforeend", "<img src='data:,' onerror='window.evil = 1'>");
    const script = document.createElement("script");
    script.textContent = "window.evil = 2";
    document.body.append(script);
  });
  await page.waitForFunction(() => document.querySelector("img").complete);
  assert.equal(await page.evaluate(() => window.evil), undefined);
  assert.ok(page.complaints.some((text) => text.includes("Content Security Policy")), `${page.complaints}`);
  await page.close();
});

for (const name of ["dist/uPlot.iife.min.js", "dist/uPlot.min.css", "LICENSE"]) {
  await check(`${name} is the package's`, () => {
    const published = readFileSync(path.join(import.meta.dirname, "node_modules/uplot", name));
    const kept = readFileSync(path.join(ROOT, "src/report/html/vendor/uplot", path.basename(name)));
    assert.ok(published.equals(kept));
  });
}

mkdirSync(PICTURES, { recursive: true });
const pages = files.map((file) => path.resolve(file));
const many = pages.find((file) => file.endsWith("/many.html"));
assert.ok(many, "the tests have left their pages");
const browser = await puppeteer.launch({
  executablePath: chromium,
  // Everything here is root's, and a container has little shared memory.
  args: ["--no-sandbox", "--disable-gpu", "--disable-dev-shm-usage"],
});
try {
  for (const file of pages) await looks(browser, file);
  await everything(browser, many);
  await withoutScript(browser, many);
  await policy(browser, many);
} finally {
  await browser.close();
}
console.log(`${pages.length} pages, ${checks} checks, pictures in ${path.relative(ROOT, PICTURES)}`);
