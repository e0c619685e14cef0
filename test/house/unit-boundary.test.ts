import { spawn, spawnSync } from 'node:child_process';
import { createSocket } from 'node:dgram';
import { createWriteStream, mkdtempSync, openSync, readFileSync, writeFileSync } from 'node:fs';
import { mkdtemp, open, readFile } from 'node:fs/promises';
import { createServer } from 'node:http';
import { connect } from 'node:net';
import { Worker } from 'node:worker_threads';
import { describe, expect, it } from 'vitest';
import { crossings } from '../unit-boundary.setup.ts';

/** Never made: each call is refused. */
const FILE = 'test-results/unit-boundary';

/** What is said of the call, at once or by its promise; '': it was not refused. */
async function refusalOf(call: () => unknown): Promise<string> {
  try {
    await call();
  } catch {
    // Some wrap what is thrown.
  }
  return crossings.splice(0)[0] ?? '';
}

describe('a unit test', () => {
  it.each<[string, () => unknown]>([
    ['listens', () => createServer().listen(0)],
    ['connects', () => connect(1, '127.0.0.1')],
    ['fetches', () => fetch('http://127.0.0.1:8080/')],
    ['sends a datagram', () => createSocket('udp4').send('x', 1)],
    ['starts a process', () => spawn('true')],
    ['runs a process', () => spawnSync('true')],
    ['starts a thread', () => new Worker('', { eval: true })],
    ['writes a file', () => writeFileSync(FILE, '')],
    ['writes a stream', () => createWriteStream(FILE)],
    ['makes a temporary folder', () => mkdtempSync(FILE)],
    ['makes a temporary folder later', () => mkdtemp(FILE)],
    ['opens a file to write', () => openSync(FILE, 'a')],
    ['opens a file to write later', () => open(FILE, 'r+')],
  ])('that %s is refused', async (_name, call) => {
    expect(await refusalOf(call)).toMatch(
      /^test\/house\/unit-boundary\.test\.ts calls .*\.integration\.test\.ts$/,
    );
  });

  it('may read files of the repository', async () => {
    expect(readFileSync('package.json', 'utf8')).toBe(await readFile('package.json', 'utf8'));
    expect(crossings).toEqual([]);
  });
});
