// What must hold of a page of `git operator report` in a browser. tests/browser/run calls it.
import {readFileSync, writeFileSync} from 'node:fs';
import {basename, join} from 'node:path';
import {pathToFileURL} from 'node:url';
import {Browser} from './browser.mjs';

const [program, axe, profile, shots, ...pages] = process.argv.slice(2);
const LOOKS = {
    light: {width: 1280, height: 900, scheme: 'light', mobile: false},
    dark: {width: 1280, height: 900, scheme: 'dark', mobile: false},
    phone: {width: 360, height: 740, scheme: 'light', mobile: true},
    'phone-dark': {width: 360, height: 740, scheme: 'dark', mobile: true},
};
/** Links followed by a real navigation, from each section; every link's target is looked up. */
const FOLLOWED = 4;
/** With more records than this axe-core takes minutes: it looks once, at what is not folded. */
const MANY = 2000;

const failures = [];
let checks = 0;
function check(holds, what) {
    checks += 1;
    if (!holds) failures.push(what);
}

async function links(tab, name) {
    const dead = await tab.evaluate(`[...document.querySelectorAll('a')].map((a) => a.getAttribute('href'))
        .filter((href) => !href?.startsWith('#') || !document.getElementById(decodeURIComponent(href.slice(1))))`);
    check(dead.length === 0, `${name}: links that lead nowhere: ${dead.slice(0, 5)}`);
    const some = await tab.evaluate(`[...document.querySelectorAll('section, nav')].flatMap((part) =>
        [...part.querySelectorAll('a')].slice(0, ${FOLLOWED}).map((a) => a.getAttribute('href')))`);
    for (const href of new Set(some)) {
        await fold(tab);
        const seen = await tab.evaluate(`(async () => {
            [...document.querySelectorAll('a')].find((a) => a.getAttribute('href') === ${JSON.stringify(href)}).click();
            await new Promise((done) => requestAnimationFrame(() => requestAnimationFrame(done)));
            const box = document.getElementById(${JSON.stringify(href.slice(1))}).getBoundingClientRect();
            return box.height > 0 && box.top < innerHeight && box.bottom > 0 ? '' : Math.round(box.top) + ' to ' + Math.round(box.bottom) + ' px of ' + innerHeight;
        })()`);
        check(seen === '', `${name}: ${href} is followed and its target is not seen: ${seen}`);
    }
    return some.length;
}

async function keyboard(tab, name) {
    await tab.press('Tab');
    const first = await tab.evaluate(`document.activeElement.getAttribute('href') ?? document.activeElement.tagName`);
    check(first === '#summary', `${name}: the first TAB leads to ${first}, not to the skip link`);
}

function fold(tab) {
    return tab.evaluate(`document.querySelectorAll('details').forEach((one) => { one.open = false; })`);
}

/** Opens what is folded, as somebody does who reads on: the newest month, its newest day, and all else. */
async function unfold(tab) {
    await tab.evaluate(`for (const kind of ['details.month', 'details.day']) {
        const one = document.querySelector(kind);
        if (one) one.open = true;
    }
    document.querySelectorAll('details:not(.month, .day)').forEach((one) => { one.open = true; });`);
}

/** Looks at the page with axe-core; of very many records and tasks, which lie folded, at none. */
async function accessible(tab, name) {
    const found = await tab.evaluate(`axe.run({exclude: ${await many(tab)} ? [['details']] : []}, {resultTypes: ['violations']})
        .then((result) => result.violations.map((one) => one.id + ' (' + one.nodes.length + '): '
            + one.nodes[0].html.slice(0, 200) + ' ' + one.nodes[0].failureSummary))`);
    check(found.length === 0, `${name}: ${found.join('\n    ')}`);
}

function many(tab) {
    return tab.evaluate(`document.querySelectorAll('.records li').length > ${MANY}`);
}

async function page(browser, file) {
    const tab = await browser.tab();
    const url = pathToFileURL(file).href;
    const begun = Date.now();
    await tab.look(LOOKS.light);
    await tab.open(url);
    const name = basename(file, '.html');
    console.log(`${name}: opened in ${Date.now() - begun} ms`);
    const others = tab.requests.filter((one) => one !== url && !one.startsWith('data:'));
    check(tab.requests.includes(url) && others.length === 0, `${name}: requests leave the page: ${others}`);
    check(await tab.evaluate(`document.scripts.length`) === 0, `${name}: the page has a script`);
    await tab.evaluate(readFileSync(axe, 'utf8'));
    await keyboard(tab, name);
    const followed = await links(tab, name);
    for (const [look, how] of Object.entries(LOOKS)) {
        await tab.look(how);
        await tab.evaluate(`location.hash = ''; scrollTo(0, 0)`);
        writeFileSync(join(shots, `${name}-${look}.png`), await tab.shot());
        if (await many(tab)) await fold(tab);
        else await unfold(tab);
        const wide = await tab.evaluate(`document.documentElement.scrollWidth - document.documentElement.clientWidth`);
        check(wide <= 0, `${name} ${look}: the page is ${wide} px wider than the window`);
        if (look === 'light' || !await many(tab)) await accessible(tab, `${name} ${look}`);
        for (const id of await tab.evaluate(`[...document.querySelectorAll('section')].map((one) => one.id)`)) {
            await tab.evaluate(`document.getElementById(${JSON.stringify(id)}).scrollIntoView()`);
            writeFileSync(join(shots, `${name}-${look}-${id}.png`), await tab.shot());
        }
    }
    check(tab.said.length === 0, `${name}: the console says ${tab.said.slice(0, 3).join('; ')}`);
    check(tab.requests.filter((one) => one.split('#')[0] !== url && !one.startsWith('data:')).length === 0,
        `${name}: reading makes requests: ${tab.requests}`);
    console.log(`${name}: ${followed} links followed, all looked at in ${Math.round((Date.now() - begun) / 1000)} s`);
}

const browser = new Browser(program, profile);
try {
    for (const file of pages) await page(browser, file);
} finally {
    await browser.close();
}
for (const what of failures) console.error(`FAILED ${what}`);
console.log(`${checks - failures.length} passed, ${failures.length} failed`);
process.exit(failures.length === 0 ? 0 : 1);
