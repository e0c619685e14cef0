import { execFileSync, spawn } from 'node:child_process';
import { mkdtempSync, readFileSync, rmSync, writeFileSync } from 'node:fs';
import { Agent, request } from 'node:https';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { createInterface } from 'node:readline';
import { afterEach, beforeEach, expect, it } from 'vitest';
import type { HubProcess } from './hub-process.ts';
import { startHubProcess } from './hub-process.ts';

/*
 * The hub under all attacks on its share of the machine at once, in processes of their own. How fast it answers is measured by
 * test/bench/hub-under-attack.bench.mjs; here each request must be answered, and the memory must stay bounded.
 */
const MAIN = join(import.meta.dirname, '../../dist/src/app/cli/main.js');
const ATTACKER = join(import.meta.dirname, 'hub-attacker.mjs');
const ROUNDS = 40;
const MEMORY_LIMIT_KIB = 1024 * 1024;

let dataDir: string;
let hub: HubProcess;
beforeEach(async () => {
  dataDir = mkdtempSync(join(tmpdir(), 'berth-attack-'));
  hub = await startHubProcess(dataDir, ['--log-level', 'error']);
});
afterEach(async () => {
  await hub.end('SIGKILL');
  rmSync(dataDir, { recursive: true, force: true });
});

const valueOf = (kubeconfig: string, key: string): string =>
  new RegExp(`${key}: "?([^\\s"]+)`).exec(kubeconfig)?.[1] ?? '';

it('answers probes and administrators while a user without rights attacks it in every way', async () => {
  const admin = readFileSync(hub.kubeconfig, 'utf8');
  const ca = Buffer.from(valueOf(admin, 'certificate-authority-data'), 'base64').toString();
  const caFile = join(dataDir, 'attack-ca.pem');
  writeFileSync(caFile, ca);
  const attacker = spawn(process.execPath, [ATTACKER, hub.url, caFile, tokenWithoutRights()]);
  try {
    const lines = createInterface({ input: attacker.stdout })[Symbol.asyncIterator]();
    expect(await lines.next()).toEqual({ done: false, value: 'ready' });
    const asked = new Agent({ keepAlive: true });
    const ask = (path: string, headers = {}): Promise<number> =>
      statusOf(`${hub.url}${path}`, { ca, agent: asked, headers });
    const bearer = { authorization: `Bearer ${valueOf(admin, 'token')}` };
    for (let round = 0; round < ROUNDS; round += 1) {
      expect(await Promise.all([ask('/readyz'), ask('/api/v1/namespaces', bearer)])).toEqual([200, 200]);
      expect(residentKib()).toBeLessThan(MEMORY_LIMIT_KIB);
    }
    asked.destroy();
    attacker.kill('SIGTERM');
    const counts = JSON.parse(String((await lines.next()).value)) as Record<string, number>;
    expect(Object.keys(counts).length).toBeGreaterThan(10);
  } finally {
    attacker.kill('SIGKILL');
  }
});

function tokenWithoutRights(): string {
  const words = [MAIN, 'hub', 'kubeconfig', '--data', dataDir, '--user', 'mallory'];
  return valueOf(execFileSync(process.execPath, words, { encoding: 'utf8' }), 'token');
}

function residentKib(): number {
  const status = readFileSync(`/proc/${String(hub.child.pid)}/status`, 'utf8');
  return Number(/VmRSS:\s+(\d+)/.exec(status)?.[1]);
}

function statusOf(url: string, options: object): Promise<number> {
  return new Promise((resolve, reject) => {
    const sent = request(url, { servername: 'localhost', ...options }, (response) =>
      response
        .on('end', () => resolve(response.statusCode ?? 0))
        .on('error', reject)
        .resume(),
    );
    sent.on('error', reject);
    sent.end();
  });
}
