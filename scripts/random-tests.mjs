// The tests with random input, and how they are run with another seed. Used by fresh-draw.mjs and soak.mjs.
import { spawnSync } from 'node:child_process';
import { existsSync, mkdtempSync, readFileSync, readdirSync, rmSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join, relative } from 'node:path';

/** A test file that draws random input imports one of these (test/house/random-tests.test.ts). */
const DRAWS = /^import .* from '(fast-check|@berth\/test-kit\/(test-seed|seeded-random))';$/m;
const VITEST = join('node_modules', 'vitest', 'vitest.mjs');

/** @returns {string[]} paths of the test files that draw random input */
export function randomTests() {
  return ['test', ...readdirSync('packages').map((name) => join('packages', name, 'test'))]
    .filter((folder) => existsSync(folder))
    .flatMap((folder) => readdirSync(folder, { recursive: true, encoding: 'utf8' }).map((name) => join(folder, name)))
    .filter((file) => file.endsWith('.test.ts') && DRAWS.test(readFileSync(file, 'utf8')))
    .sort();
}

/**
 * @typedef {object} Failure
 * @property {string} name file and test
 * @property {string} message first line of what was wrong
 * @property {string} command repeats it, after `npm run build`
 */

/**
 * Runs test files once. Nothing is tried again.
 * @param {readonly string[]} files
 * @param {Readonly<Record<string, string>>} draw the environment that makes the draw: the seed, and how much is drawn
 * @param {readonly string[]} [options] of vitest
 * @returns {Failure[]}
 */
export function failuresOf(files, draw, options = []) {
  const dir = mkdtempSync(join(tmpdir(), 'berth-draw-'));
  const report = join(dir, 'report.json');
  const args = [VITEST, 'run', '--reporter=json', `--outputFile.json=${report}`, ...options, ...files];
  const env = { ...process.env, ...draw, BERTH_RETRY: '0' };
  try {
    const { status, signal } = spawnSync(process.execPath, args, { stdio: 'inherit', env });
    const failures = existsSync(report) ? failuresIn(JSON.parse(readFileSync(report, 'utf8')), draw) : [];
    if (status === 0 || failures.length > 0) return failures;
    const message = `vitest ended with ${signal ?? `code ${status}`}, and no test failed`;
    return [{ name: files.join(' '), message, command: commandOf(draw, files) }];
  } finally {
    rmSync(dir, { recursive: true, force: true });
  }
}

/**
 * @param report of vitest's JSON reporter
 * @param {Readonly<Record<string, string>>} draw
 * @returns {Failure[]} also of files that could not be loaded
 */
export function failuresIn({ testResults }, draw) {
  return testResults.flatMap(({ name, status, message, assertionResults }) => {
    const file = relative(process.cwd(), name);
    const failed = assertionResults.filter((test) => test.status === 'failed');
    if (failed.length === 0 && status === 'failed')
      return [{ name: file, message: firstLine(message), command: commandOf(draw, [file]) }];
    return failed.map(({ fullName, failureMessages }) => ({
      name: `${file} > ${fullName}`,
      message: firstLine(failureMessages?.[0]),
      command: commandOf(draw, [file], fullName),
    }));
  });
}

/** For a shell. */
function commandOf(draw, files, test) {
  const env = Object.entries(draw).map(([name, value]) => `${name}=${value}`);
  const pattern = test === undefined ? [] : ['-t', quoted(test.replace(/[.*+?^${}()|[\]\\]/g, '\\$&'))];
  return [...env, 'npx vitest run', ...files, ...pattern].join(' ');
}

function quoted(word) {
  return `'${word.replaceAll("'", `'\\''`)}'`;
}

function firstLine(text = 'no message') {
  return text.split('\n', 1)[0];
}
