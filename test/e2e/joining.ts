import { existsSync, mkdtempSync, rmSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { expect } from 'vitest';
import { systemClock } from '@berth/runtime/clock/system-clock';
import { loadKubeConfig } from '@berth/kube/config/load-kube-config';
import { HttpKubeApi } from '@berth/kube/http-kube-api';
import { apiVersionOf, type KindInfo } from '@berth/kube/model/kinds';
import type { KubeApi } from '@berth/kube/model/kube-api';
import type { KubeObject } from '@berth/kube/model/object-meta';
import { LONG_RUN_MS } from '@berth/test-kit/patience';
import { issueKubeconfig } from '@berth/embedded-hub/maintenance/issue-kubeconfig';
import { HubSide } from '../agent/registration/hub-side.ts';
import { freePort } from '../interop/peers/free-port.ts';
import { BerthProcess } from './berth-process.ts';
import { PhoenixProcess } from './phoenix-process.ts';

export const CLUSTER = 'edge-1';
const BOOTSTRAP_USER = 'system:serviceaccount:open-cluster-management:agent-registration-bootstrap';

/** Who is killed at each write. */
export type Mortal = 'agent' | 'controllers' | 'hub' | 'manager';

/** A hub that dies makes everybody wait longer and longer. */
export const PATIENT = { timeout: LONG_RUN_MS / 2, interval: 500 };

/** A write of the test itself, repeated while the hub is dead. */
export async function ensure(write: () => Promise<unknown>, isDone: () => Promise<boolean>): Promise<void> {
  const attempt = async (): Promise<boolean> => {
    await write().catch(() => undefined);
    return isDone().catch(() => false);
  };
  await expect.poll(attempt, PATIENT).toBe(true);
}

/** Creates an object, although the hub may die. */
export const ensureCreated = (api: KubeApi, kind: KindInfo, content: object): Promise<void> => {
  const object = { apiVersion: apiVersionOf(kind), kind: kind.kind, ...content } as unknown as KubeObject;
  const { namespace = '', name } = object.metadata;
  const isThere = async () => (await api.get(kind, { namespace, name })) !== undefined;
  return ensure(() => api.create(kind, object), isThere);
};

/** Hub, controllers and agent of a cluster that joins, each a process of its own. */
export class Joining {
  readonly #dir = mkdtempSync(join(tmpdir(), 'berth-join-crash-'));
  readonly #processes: { kill(): Promise<void> }[] = [];
  readonly #clients: HttpKubeApi[] = [];
  #api: HttpKubeApi | undefined;

  /**
   * @param serveFlags in addition to those of registration
   * @param manager a program that gets the kubeconfig of the hub
   */
  async start(mortal: Mortal, serveFlags: readonly string[] = [], manager?: string): Promise<PhoenixProcess> {
    const run = (args: readonly string[], isMortal: boolean, role: 'client' | 'server', program?: string) => {
      const process = isMortal
        ? new PhoenixProcess(args, role, join(this.#dir, 'deaths'), program)
        : new BerthProcess(args, {}, program);
      this.#processes.unshift(process);
      return process;
    };
    const data = join(this.#dir, 'hub');
    const listen = ['--listen', `127.0.0.1:${String(await freePort())}`];
    // What prepares the hub is no part of a join.
    const first = new BerthProcess(['hub', '--data', data, ...listen, '--members', 'cluster1']);
    const kubeconfig = join(data, 'admin.kubeconfig');
    await expect.poll(() => existsSync(kubeconfig) && first.text.includes('\n')).toBe(true);
    this.#api = this.#client('admin.kubeconfig');
    await this.hub.prepareBootstrap(BOOTSTRAP_USER);
    const bootstrap = join(this.#dir, 'bootstrap.kubeconfig');
    const asked = { dataDir: data, user: BOOTSTRAP_USER, groups: [], cluster: '' };
    writeFileSync(bootstrap, await issueKubeconfig(asked, Date.now()));
    await first.kill();

    const hub = run(['hub', '--data', data, ...listen, '--members', 'cluster1'], mortal === 'hub', 'server');
    const serve = run(
      [
        ...['serve', '--kubeconfig', kubeconfig, '--embedded', '--data', join(this.#dir, 'serve')],
        ...['--listen', '127.0.0.1:0', '--registration', 'all', '--auto-accept-user', BOOTSTRAP_USER],
        ...serveFlags,
      ],
      mortal === 'controllers',
      'client',
    );
    const agent = run(
      [
        ...['agent', '--bootstrap-kubeconfig', bootstrap, '--cluster-name', CLUSTER],
        ...['--hub-kubeconfig-secret', 'default/hub-kubeconfig-secret'],
        ...['--kubeconfig', join(data, 'admin-cluster1.kubeconfig')],
      ],
      mortal === 'agent',
      'client',
    );
    const other = manager && run([kubeconfig], mortal === 'manager', 'client', manager);
    return { hub, controllers: serve, agent, manager: other }[mortal] as PhoenixProcess;
  }

  /** The cluster that joins. */
  member(): HttpKubeApi {
    return this.#client('admin-cluster1.kubeconfig');
  }

  #client(file: string): HttpKubeApi {
    const config = loadKubeConfig({ file: join(this.#dir, 'hub', file) });
    const api = new HttpKubeApi({ config, clock: systemClock });
    this.#clients.push(api);
    return api;
  }

  get hub(): HubSide {
    if (this.#api === undefined) throw new Error('the hub was not started');
    return new HubSide(this.#api);
  }

  /** What the hub says of the cluster; nothing while it is dead. */
  async conditions(): Promise<readonly unknown[]> {
    const types = ['HubAcceptedManagedCluster', 'ManagedClusterJoined', 'ManagedClusterConditionAvailable'];
    return Promise.all(types.map((type) => this.hub.condition(CLUSTER, type).catch(() => 'no answer')));
  }

  async close(): Promise<void> {
    for (const process of this.#processes.splice(0)) await process.kill();
    for (const api of this.#clients) api.close();
    rmSync(this.#dir, { recursive: true, force: true });
  }
}
