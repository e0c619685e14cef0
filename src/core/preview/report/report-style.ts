import { sha256 } from '@berth/runtime/sha256';
import { DECISION_STYLE } from './decision-table-html.ts';
import { COLOURS, colourVariables } from './html.ts';

/** Browsers open folds of a printed page only if they know `::details-content`; the script opens them in the others. */
const PRINT = [
  `:root{${colourVariables(COLOURS.light)}}`,
  ':root{color-scheme:light}body{max-width:none;margin:0;font-size:10pt}',
  '.tools{display:none}details::details-content{content-visibility:visible;height:auto;display:block}',
  'summary{list-style:none}tr,li,.held{break-inside:avoid-page}',
  'h2,h3{break-after:avoid}.wide{overflow:visible}*{print-color-adjust:exact;-webkit-print-color-adjust:exact}',
  'a[href]::after{content:" (" attr(href) ")";color:var(--muted)}.decision td,.decision th{white-space:normal}',
].join('');

export const STYLE = [
  `:root{${colourVariables(COLOURS.light)}}`,
  ':root{color-scheme:light dark}',
  `@media (prefers-color-scheme:dark){:root{${colourVariables(COLOURS.dark)}}}`,
  'body{font:15px/1.5 ui-sans-serif,system-ui,sans-serif;max-width:75rem;margin:1.5rem auto;padding:0 1rem;background:var(--bg);color:var(--text)}',
  'h1{font-size:1.5rem;line-height:1.25;margin:.2rem 0}h2{font-size:1.15rem;margin:1.8rem 0 .5rem;border-bottom:1px solid var(--line)}',
  'h3{font-size:1rem;margin:1.1rem 0 .3rem}a{color:var(--link)}small{font-weight:400;color:var(--muted)}.origin{color:var(--muted);margin:0}',
  '.verdict{font-size:1.1rem;font-weight:600;background:var(--soft);border-left:.4rem solid var(--good);padding:.5rem .8rem}',
  '.verdict.stopped,.verdict.failed{border-color:var(--danger)}.verdict.changes{border-color:var(--warning)}',
  '.held{border:1px solid var(--line);border-left:.4rem solid var(--danger);padding:.1rem .8rem;margin:.6rem 0}',
  // Columns that would be too narrow to read are scrolled to.
  '.wide{overflow-x:auto}table{border-collapse:collapse}',
  'td,th{text-align:left;vertical-align:top;padding:.25rem .6rem;border-bottom:1px solid var(--line)}tbody th{font-weight:400}thead th{background:var(--soft)}',
  'code{font-family:ui-monospace,monospace;font-size:.92em}li,p{overflow-wrap:anywhere}td,th{overflow-wrap:break-word}ul{padding-left:1.3rem;margin:.3rem 0}',
  'figure{margin:1rem 0;overflow-x:auto}svg{max-width:100%;height:auto}',
  'details{margin:.2rem 0}summary{cursor:pointer;padding:.15rem 0}summary:hover{text-decoration:underline}',
  '.names{list-style:none;padding:0;display:flex;flex-wrap:wrap;gap:.25rem}.names li{padding:0 .4rem;border:1px solid var(--line);border-radius:.25rem;font-size:.88rem}',
  '.stays li{background:var(--soft)}.stays li::before{content:"● "}.absent li{border-style:dashed;color:var(--muted)}',
  '.danger{color:var(--danger);font-weight:600}.warning{color:var(--warning)}.notice{color:var(--muted)}',
  '.tools{position:sticky;top:0;background:var(--bg);padding:.5rem 0;display:flex;gap:.6rem;flex-wrap:wrap;align-items:center;z-index:1}.tools[hidden],[hidden]{display:none!important}',
  '.tools input{font:inherit;padding:.3rem .5rem;width:16rem;max-width:60vw;color:var(--text);background:var(--bg);border:1px solid var(--muted);border-radius:.3rem}',
  '.tools button{font:inherit;padding:.3rem .7rem;color:var(--text);background:var(--soft);border:1px solid var(--muted);border-radius:.3rem;cursor:pointer}',
  DECISION_STYLE,
  '@media (max-width:40rem){body{font-size:14px;margin:.8rem auto;padding:0 .7rem}.stack thead{position:absolute;clip-path:inset(50%)}.stack tr{display:block;border-bottom:2px solid var(--line);padding:.3rem 0}.stack td,.stack th{display:block;overflow-wrap:anywhere;border:0;padding:.1rem 0}.stack td:empty{display:none}figure svg{max-width:none}.track{width:2rem}.decision th,.decision .flips{white-space:normal;min-width:6rem}}',
  `@media print{${PRINT}}`,
].join('\n');

/**
 * Filters the lines of the page by text, which is kept in the fragment of the address. Opens folds that contain a hit,
 * and all of them for paper. Without the script the page shows everything.
 */
export const SCRIPT = `
(() => {
  const all = (selector, within = document) => [...within.querySelectorAll(selector)];
  const tools = document.querySelector('.tools'), box = tools.querySelector('input');
  const [unfold, count] = [tools.querySelector('button'), tools.querySelector('[role=status]')];
  const items = all('main li, main .held, main tbody tr:not(.part):not(.gap)'), folds = all('details'), parts = all('main section, main article, main .wide');
  const textOf = new Map(items.map((item) => [item, item.textContent.toLowerCase()]));
  let before;
  const show = () => {
    const wanted = box.value.trim().toLowerCase();
    before ??= folds.map((fold) => fold.open);
    let hits = 0;
    for (const item of items) {
      const hit = textOf.get(item).includes(wanted);
      item.hidden = !hit;
      if (hit) hits++;
    }
    const hasHit = (part) => part.querySelector('li:not([hidden]), .held:not([hidden]), tbody tr:not(.part):not(.gap):not([hidden])') !== null;
    folds.forEach((fold, at) => {
      fold.open = wanted === '' ? before[at] : hasHit(fold);
      fold.hidden = wanted !== '' && !fold.open;
    });
    for (const part of parts) part.hidden = wanted !== '' && part.querySelector('li, .held, tbody tr') !== null && !hasHit(part);
    if (wanted === '') before = undefined;
    count.textContent = wanted === '' ? '' : hits === 1 ? '1 line' : hits + ' lines';
  };
  const fromAddress = () => {
    const text = new URLSearchParams(location.hash.slice(1)).get('filter') ?? '';
    if (text !== box.value) { box.value = text; show(); }
  };
  box.addEventListener('input', () => {
    show();
    location.replace('#' + (box.value === '' ? '' : new URLSearchParams({ filter: box.value })));
  });
  unfold.addEventListener('click', () => {
    const open = folds.some((fold) => !fold.open);
    for (const fold of folds) fold.open = open;
  });
  let printed;
  addEventListener('beforeprint', () => { printed = folds.filter((fold) => !fold.open); for (const fold of printed) fold.open = true; });
  addEventListener('afterprint', () => { for (const fold of printed ?? []) fold.open = false; });
  addEventListener('hashchange', fromAddress);
  tools.hidden = false;
  fromAddress();
})();
`;

/**
 * What a report may load and run: its own script, known by its digest, and nothing else, even if the escaping of a name
 * failed.
 */
export const CONTENT_POLICY = [
  "default-src 'none'",
  "style-src 'unsafe-inline'",
  `script-src 'sha256-${base64Of(sha256(SCRIPT))}'`,
  "base-uri 'none'",
  "form-action 'none'",
].join('; ');

/** @param digits hexadecimal */
function base64Of(digits: string): string {
  const bytes = (digits.match(/../g) ?? []).map((pair) => String.fromCharCode(Number.parseInt(pair, 16)));
  return btoa(bytes.join(''));
}
