import { mkdtempSync, readFileSync, rmSync } from 'node:fs';
import { request } from 'node:https';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { afterEach, describe, expect, it } from 'vitest';
import type { LooseJson } from '../hub/loose-json.ts';
import type { HubProcess } from './hub-process.ts';
import { startHubProcess } from './hub-process.ts';

/** Half a minute here; `BERTH_SOAK_SECONDS=3600 npx vitest run test/e2e/hub-soak.test.ts` for the hour. */
const SECONDS = Number(process.env['BERTH_SOAK_SECONDS'] ?? '30');
const OBJECTS_PER_WRITER = 50;
const WRITERS = 6;
const PATH = '/api/v1/namespaces/default/configmaps';

let hub: HubProcess | undefined;
let dataDir = '';
afterEach(async () => {
  await hub?.end('SIGKILL');
  rmSync(dataDir, { recursive: true, force: true });
});

const rssMb = (running: HubProcess): number =>
  Number(/VmRSS:\s+(\d+)/.exec(readFileSync(`/proc/${String(running.child.pid)}/status`, 'utf8'))?.[1]) /
  1024;

/** A watch that must see every version once and in order; renews itself like a client. */
function follow(running: HubProcess, seen: { last: number; events: number; disorder: string[] }): () => void {
  const text = readFileSync(running.kubeconfig, 'utf8');
  const token = /token: (\S+)/.exec(text)?.[1] ?? '';
  const ca = Buffer.from(/certificate-authority-data: (\S+)/.exec(text)?.[1] ?? '', 'base64').toString();
  const url = `${running.url}${PATH}?watch=true&allowWatchBookmarks=true`;
  const sent = request(url, { ca, headers: { authorization: `Bearer ${token}` } }, (response) => {
    let rest = '';
    response.setEncoding('utf8');
    response.on('error', () => undefined);
    response.on('data', (chunk: string) => {
      const lines = (rest + chunk).split('\n');
      rest = lines.pop() ?? '';
      for (const line of lines) {
        const event: LooseJson = JSON.parse(line);
        const rv = Number(event.object.metadata.resourceVersion);
        if (event.type !== 'BOOKMARK' && event.type !== 'ADDED' && rv <= seen.last) seen.disorder.push(line);
        seen.last = Math.max(seen.last, rv);
        seen.events += 1;
      }
    });
  });
  sent.on('error', () => undefined);
  sent.end();
  return () => sent.destroy();
}

async function load(running: HubProcess, id: number, until: number): Promise<number> {
  let operations = 0;
  for (; Date.now() < until; operations += 1) {
    const name = `soak-${String(id)}-${String(operations % OBJECTS_PER_WRITER)}`;
    const round = Math.floor(operations / OBJECTS_PER_WRITER) % 3;
    const body = {
      apiVersion: 'v1',
      kind: 'ConfigMap',
      metadata: { name },
      data: { round: String(operations), text: 'x'.repeat(500) },
    };
    const reply =
      round === 0
        ? await running.call('POST', PATH, body)
        : round === 1
          ? await running.call(
              'PATCH',
              `${PATH}/${name}`,
              { data: { round: String(operations) } },
              'application/merge-patch+json',
            )
          : await running.call('DELETE', `${PATH}/${name}`);
    expect(reply.status).toBeLessThan(300);
    if (operations % 40 === 0) expect((await running.call('GET', `${PATH}?limit=100`)).status).toBe(200);
  }
  return operations;
}

describe('mixed load', () => {
  it('leaves memory flat and events in order', { timeout: (SECONDS + 60) * 1000 }, async () => {
    dataDir = mkdtempSync(join(tmpdir(), 'berth-soak-'));
    const running = await startHubProcess(dataDir, ['--audit', 'off']);
    hub = running;
    const seen = { last: 0, events: 0, disorder: [] as string[] };
    const stop = follow(running, seen);
    const until = Date.now() + SECONDS * 1000;
    const samples: number[] = [];
    const timer = setInterval(() => samples.push(rssMb(running)), (SECONDS * 1000) / 30);
    const operations = await Promise.all(
      Array.from({ length: WRITERS }, (_, id) => load(running, id, until)),
    );
    clearInterval(timer);
    stop();
    // The ring of past events fills first; after half of the time nothing may grow any more.
    const middle = samples.slice(samples.length / 2, (samples.length * 3) / 4);
    const late = samples.slice((samples.length * 3) / 4);
    const highest = (values: readonly number[]): number => Math.max(...values);
    expect(highest(late)).toBeLessThan(highest(middle) * 1.15 + 20);
    expect(seen.disorder).toEqual([]);
    const total = operations.reduce((sum, count) => sum + count, 0);
    expect(seen.events).toBeGreaterThan(total * 0.9);
    expect(await running.end('SIGTERM')).toBe(0);
  });
});
