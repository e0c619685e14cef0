import { readFileSync } from 'node:fs';
import { dirname, join, resolve } from 'node:path';
import { expect, it } from 'vitest';

const MAIN = join(import.meta.dirname, '../../dist/src/app/cli/main.js');
/** Bytes. 756 kB on 2026-11-28; the schemas of the embedded hub alone add 390 kB, and a third to the time of `berth --version`. */
const MOST = 850_000;

it('every command begins with little code: what only some need is loaded by them', () => {
  const sizes = new Map<string, number>();
  const open = [MAIN];
  for (let file = open.pop(); file !== undefined; file = open.pop()) {
    if (sizes.has(file)) continue;
    const text = readFileSync(file, 'utf8');
    sizes.set(file, text.length);
    for (const [, path = ''] of text.matchAll(/^(?:import|export|\})[^"\n]*"(\.[^"]+)"/gm))
      open.push(resolve(dirname(file), path));
  }
  expect(sizes.size).toBeGreaterThan(10);
  expect([...sizes.values()].reduce((sum, size) => sum + size, 0)).toBeLessThan(MOST);
});
