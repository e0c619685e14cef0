// Prints how large the source is beside test/house/limits.json (`npm run limits`). `--lower` writes the numbers that became lower, and the
// packages and files that moved. It raises none: that is an edit by hand, with a "reason".
import { existsSync, readFileSync, readdirSync, writeFileSync } from 'node:fs';
import { basename } from 'node:path';
import { parseArgs } from 'node:util';
import { SMALL_LINES, packageSizes, sourceSizes } from './source-sizes.mjs';

const FILE = 'test/house/limits.json';
/** The lists of files that test/e2e/entered-files.test.ts wrote when it ran last. */
const ENTERED = '.cache/entered';
/** Two runs of one behaviour may differ by so many files. */
const SPARE = 5;
/** Longer files are in the list `longFiles`. */
const SPINE_LINES = 400;

const { values } = parseArgs({ options: { lower: { type: 'boolean', default: false } } });
const limits = JSON.parse(readFileSync(FILE, 'utf8'));
const files = sourceSizes();
const sizes = packageSizes(files);
const small = files.filter(({ filled }) => filled < SMALL_LINES).map(({ path }) => path);
const toFold = limits.smallFilesToFold;

print('package', sizes, limits.packages);
print('behaviour', entered(), limits.behaviours);
console.log(`\n${small.length} files of less than ${SMALL_LINES} lines, ${toFold.length} of them listed to be folded`);
if (values.lower) {
  const packages = lowered(limits.packages, sizes);
  for (const name of Object.keys(packages)) if (!(name in sizes)) delete packages[name];
  const behaviours = lowered(limits.behaviours, entered(), SPARE);
  writeFileSync(FILE, textOf({ ...limits, packages, behaviours, ...followedFiles() }));
}

function print(what, now, most) {
  console.log(`\n${what.padEnd(26)}    files       of    lines       of`);
  for (const name of Object.keys({ ...most, ...now }).sort()) {
    const numbers = ['files', 'lines'].flatMap((key) => [now[name]?.[key], most[name]?.[key]]);
    const isOver = numbers[0] > (numbers[1] ?? 0) || numbers[2] > (numbers[3] ?? 0);
    const columns = numbers.map((number) => String(number ?? '').padStart(9));
    console.log(`${name.padEnd(26)}${columns.join('')}${isOver ? '  over' : ''}`.trimEnd());
  }
}

/** By behaviour, in the last run of its test. */
function entered() {
  if (!existsSync(ENTERED)) return {};
  const lists = readdirSync(ENTERED).filter((name) => name.endsWith('.txt'));
  return Object.fromEntries(
    lists.map((name) => {
      const text = readFileSync(`${ENTERED}/${name}`, 'utf8').trim();
      return [name.slice(0, -'.txt'.length).replaceAll('-', ' '), { files: text.split('\n').length }];
    }),
  );
}

/** @param spare a limit that is higher by no more than this stays */
function lowered(most, now, spare = 0) {
  const merged = { ...most };
  for (const [name, size] of Object.entries(now)) {
    const limit = most[name];
    const least = Object.entries(size).map(([key, number]) => {
      const before = limit?.[key] ?? number;
      return [key, number < before - spare ? number : before];
    });
    merged[name] = { ...limit, ...Object.fromEntries(least) };
  }
  return Object.fromEntries(Object.entries(merged).sort(([a], [b]) => (a < b ? -1 : 1)));
}

/** The lists of files without those that need no entry any more. One that is gone from its place moved to where an unlisted one has its name. */
function followedFiles() {
  const long = files.filter(({ filled }) => filled > SPINE_LINES).map(({ path }) => path);
  const smallListed = new Set([...toFold, ...Object.keys(limits.smallFiles)]);
  const unlisted = [
    ...small.filter((path) => !smallListed.has(path)),
    ...long.filter((path) => !(path in limits.longFiles)),
  ];
  const placeOf = (path, fitting) => {
    if (existsSync(path)) return fitting.includes(path) ? path : undefined;
    const at = unlisted.findIndex((other) => fitting.includes(other) && basename(other) === basename(path));
    return at < 0 ? undefined : unlisted.splice(at, 1)[0];
  };
  const reasonsOf = (list, fitting) =>
    Object.fromEntries(
      Object.entries(list).flatMap(([path, reason]) => {
        const place = placeOf(path, fitting);
        return place === undefined ? [] : [[place, reason]];
      }),
    );
  return {
    longFiles: reasonsOf(limits.longFiles, long),
    smallFiles: reasonsOf(limits.smallFiles, small),
    smallFilesToFold: toFold.flatMap((path) => placeOf(path, small) ?? []).sort(),
  };
}

/** One entry a line, so that two branches seldom change the same one. */
function textOf(value) {
  const text = JSON.stringify(value, null, 2);
  return `${text.replace(/\{\n +("files"[^}]*?)\n +\}/g, (_, inside) => `{ ${inside.replace(/\n +/g, ' ')} }`)}\n`;
}
