import { existsSync, mkdtempSync, rmSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { afterEach, expect, it } from 'vitest';
import { systemClock } from '@berth/runtime/clock/system-clock';
import { loadKubeConfig } from '@berth/kube/config/load-kube-config';
import { HttpKubeApi } from '@berth/kube/http-kube-api';
import { issueKubeconfig } from '@berth/embedded-hub/maintenance/issue-kubeconfig';
import { HubSide } from '../agent/registration/hub-side.ts';
import { LONG_RUN_MS } from '@berth/test-kit/patience';
import { freePort } from '../interop/peers/free-port.ts';
import { BerthProcess } from './berth-process.ts';
import { PhoenixProcess } from './phoenix-process.ts';

const CLUSTER = 'edge-1';
const BOOTSTRAP_USER = 'system:serviceaccount:open-cluster-management:agent-registration-bootstrap';
const PATIENT = { timeout: LONG_RUN_MS / 4, interval: 500 };
const CLUSTERS = '/apis/cluster.open-cluster-management.io/v1/managedclusters';
const REQUESTS = '/apis/certificates.k8s.io/v1/certificatesigningrequests';
const SECRET = '/clusters/cluster1/api/v1/namespaces/default/secrets';
const RBAC = '/apis/rbac.authorization.k8s.io/v1';
const LEASES = `/apis/coordination.k8s.io/v1/namespaces/${CLUSTER}/leases`;

/** What the agent writes: its Secret in the cluster, then what the hub has of it. */
const OF_AGENT = [
  `POST ${SECRET}`,
  `PATCH ${SECRET}/hub-kubeconfig-secret`,
  `POST ${CLUSTERS}`,
  `POST ${REQUESTS}`,
  `PATCH ${CLUSTERS}/${CLUSTER}/status`,
  `PUT ${LEASES}/managed-cluster-lease`,
];
const OF_CONTROLLERS = [
  `PATCH ${CLUSTERS}/${CLUSTER}`,
  `PUT ${REQUESTS}/NAME/approval`,
  'POST /api/v1/namespaces',
  `POST ${RBAC}/clusterroles`,
  `POST ${RBAC}/clusterrolebindings`,
  `POST ${RBAC}/namespaces/${CLUSTER}/rolebindings`,
  `PATCH ${CLUSTERS}/${CLUSTER}/status`,
  `POST ${LEASES}`,
];

/** Hub, controllers and agent of a cluster that joins, each a process of its own. */
class Joining {
  readonly #dir = mkdtempSync(join(tmpdir(), 'berth-join-crash-'));
  readonly #processes: { kill(): Promise<void> }[] = [];
  #api: HttpKubeApi | undefined;

  /** @param mortal who is killed at each write */
  async start(mortal: 'agent' | 'controllers' | 'hub'): Promise<PhoenixProcess> {
    const run = (args: readonly string[], isMortal: boolean, role: 'client' | 'server') => {
      const process = isMortal
        ? new PhoenixProcess(args, role, join(this.#dir, 'deaths'))
        : new BerthProcess(args);
      this.#processes.unshift(process);
      return process;
    };
    const data = join(this.#dir, 'hub');
    const listen = ['--listen', `127.0.0.1:${String(await freePort())}`];
    // What prepares the hub is no part of a join.
    const first = new BerthProcess(['hub', '--data', data, ...listen, '--members', 'cluster1']);
    const kubeconfig = join(data, 'admin.kubeconfig');
    await expect.poll(() => existsSync(kubeconfig) && first.text.includes('\n')).toBe(true);
    this.#api = new HttpKubeApi({ config: loadKubeConfig({ file: kubeconfig }), clock: systemClock });
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
    return { hub, controllers: serve, agent }[mortal] as PhoenixProcess;
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
    this.#api?.close();
    rmSync(this.#dir, { recursive: true, force: true });
  }
}

let joining: Joining;
afterEach(() => joining.close());

it.each([
  ['agent', OF_AGENT],
  ['controllers', OF_CONTROLLERS],
  ['hub', [...OF_AGENT, ...OF_CONTROLLERS]],
] as const)(
  'a cluster joins although kill -9 ends the process at every write: %s',
  async (mortal, wanted) => {
    joining = new Joining();
    const phoenix = await joining.start(mortal);
    const alive = (): unknown => {
      const missing = wanted.filter((write) => !phoenix.deaths().includes(write));
      return { end: phoenix.end, missing };
    };
    await expect.poll(alive, PATIENT).toEqual({ end: undefined, missing: [] });
    await expect.poll(() => joining.conditions(), PATIENT).toEqual(['True', 'True', 'True']);
    expect((await joining.hub.requests(CLUSTER)).length).toBeLessThanOrEqual(2);
  },
);
