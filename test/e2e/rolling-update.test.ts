import { mkdtempSync, rmSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { afterAll, beforeAll, expect, it } from 'vitest';
import { GETPARAMS_PATH } from '../../plugin/getparams-endpoint.ts';
import { GitFixture } from '../../packages/git-reader/test/fakes/git-fixture.ts';
import { baseFiles, placement, yaml } from '../app/serve/fleet-fixture.ts';
import { ControllerProcess } from './controller-process.ts';
import { type HubProcess, startHubProcess } from './hub-process.ts';

const TOKEN = 'a-token-of-argo-cd-0123456789';
const BODY = JSON.stringify({
  ...{ applicationSetName: 'apps', input: { parameters: { placement: 'team-a/web' } } },
});

let dir: string;
let hub: HubProcess;
let git: GitFixture;
const replicas: ControllerProcess[] = [];
beforeAll(async () => {
  dir = mkdtempSync(join(tmpdir(), 'berth-rolling-'));
  hub = await startHubProcess(join(dir, 'hub'));
  git = new GitFixture();
  git.commit({ ...baseFiles, 'web.yaml': yaml(placement('web')) });
  writeFileSync(join(dir, 'tokens'), `${TOKEN}\n`, { mode: 0o600 });
});
afterAll(async () => {
  await Promise.all(replicas.map((replica) => replica.remove()));
  await hub.end('SIGKILL');
  git.remove();
  rmSync(dir, { recursive: true, force: true });
});

function start(): ControllerProcess {
  const replica = new ControllerProcess([
    ...['--repo', git.path, '--kubeconfig', hub.kubeconfig],
    ...['--token-file', join(dir, 'tokens'), '--shutdown-delay', '3s'],
  ]);
  replicas.push(replica);
  return replica;
}

/**
 * What a Service does: it sends each request to one of its endpoints, in turn, and learns by probes, a second apart, which are ready.
 * A refused connection, and any answer but 200, is a failure.
 */
class Service {
  #endpoints: readonly ControllerProcess[] = [];
  #next = 0;
  #isOpen = true;
  readonly failures: string[] = [];
  readonly answered = new Map<ControllerProcess, number>();
  readonly #running = Promise.all([this.#probe(), this.#ask()]);

  async close(): Promise<void> {
    this.#isOpen = false;
    await this.#running;
  }

  count(replica: ControllerProcess): number {
    return this.answered.get(replica) ?? 0;
  }

  async #probe(): Promise<void> {
    while (this.#isOpen) {
      const said = await Promise.all(replicas.map((replica) => replica.readyz()));
      this.#endpoints = replicas.filter((_, at) => said[at]?.startsWith('200'));
      // fixed wait: a Service follows its pods with a delay of its own, during which it asks old ones
      await new Promise((resolve) => setTimeout(resolve, 1_000));
    }
  }

  async #ask(): Promise<void> {
    while (this.#isOpen) {
      const replica = this.#endpoints[this.#next++ % Math.max(this.#endpoints.length, 1)];
      if (replica !== undefined) await this.#askOne(replica);
      // fixed wait: the pace of the requests
      await new Promise((resolve) => setTimeout(resolve, 5));
    }
  }

  async #askOne(replica: ControllerProcess): Promise<void> {
    try {
      const response = await fetch(`${replica.url ?? ''}${GETPARAMS_PATH}`, {
        method: 'POST',
        // Each request needs a connection, as of a client that has just begun.
        headers: {
          authorization: `Bearer ${TOKEN}`,
          'content-type': 'application/json',
          connection: 'close',
        },
        body: BODY,
      });
      const text = await response.text();
      if (response.status !== 200) this.failures.push(`${response.status} ${text}`);
      else this.answered.set(replica, this.count(replica) + 1);
    } catch (error) {
      this.failures.push(String((error as { cause?: unknown }).cause ?? error));
    }
  }
}

it('an update of two controllers, one after the other, refuses no request of the plugin', async () => {
  const leader = start();
  await leader.whenReady('leading');
  const standby = start();
  await standby.whenReady('standby');
  const service = new Service();
  await expect.poll(() => service.count(standby)).toBeGreaterThan(0);
  for (const replica of [leader, standby]) {
    const fresh = start();
    await expect.poll(() => fresh.readyz()).toMatch(/^200 ok/);
    await expect.poll(() => service.count(fresh)).toBeGreaterThan(0);
    const before = service.count(replica);
    replica.signal('SIGTERM');
    await expect.poll(() => replica.readyz()).toMatch(/^503 the process ends/);
    expect(await replica.ended()).toBe(0);
    // The old one answered while the Service did not know yet.
    expect(service.count(replica)).toBeGreaterThan(before);
  }
  await service.close();
  expect(service.failures).toEqual([]);
});
