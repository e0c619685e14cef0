import { existsSync, mkdtempSync, rmSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { afterEach, beforeEach, expect, it } from 'vitest';
import { systemClock } from '@berth/runtime/clock/system-clock';
import { loadKubeConfig } from '@berth/kube/config/load-kube-config';
import { HttpKubeApi } from '@berth/kube/http-kube-api';
import { CONFIG_MAP, PLACEMENT_DECISION } from '@berth/kube/model/kinds';
import { issueKubeconfig } from '@berth/embedded-hub/maintenance/issue-kubeconfig';
import { HubSide } from '../agent/registration/hub-side.ts';
import { GitFixture } from '../../packages/git-reader/test/fakes/git-fixture.ts';
import { LONG_RUN_MS } from '@berth/test-kit/patience';
import { freePort } from '../interop/peers/free-port.ts';
import { BerthProcess } from './berth-process.ts';

const CLUSTER = 'edge-1';
const BOTH = ['edge-1', 'edge-2'];
const BOOTSTRAP_USER = 'system:serviceaccount:open-cluster-management:agent-registration-bootstrap';
const PATIENT = { timeout: LONG_RUN_MS / 4, interval: 200 };
const FLEET = `
apiVersion: v1
kind: Namespace
metadata: {name: shop}
---
apiVersion: cluster.open-cluster-management.io/v1beta2
kind: ManagedClusterSet
metadata: {name: fleet}
spec: {clusterSelector: {selectorType: LabelSelector, labelSelector: {}}}
---
apiVersion: cluster.open-cluster-management.io/v1beta2
kind: ManagedClusterSetBinding
metadata: {name: fleet, namespace: shop}
spec: {clusterSet: fleet}
---
apiVersion: cluster.open-cluster-management.io/v1beta1
kind: Placement
metadata: {name: web, namespace: shop}
spec: {}
---
apiVersion: work.open-cluster-management.io/v1alpha1
kind: ManifestWorkReplicaSet
metadata: {name: web, namespace: shop}
spec:
  placementRefs: [{name: web}]
  manifestWorkTemplate:
    workload:
      manifests:
      - {apiVersion: v1, kind: ConfigMap, metadata: {name: web, namespace: default}}
`;
const declared = (more: string) => `
apiVersion: cluster.open-cluster-management.io/v1
kind: ManagedCluster
metadata: {name: ${CLUSTER}, ${more}}
`;
const DRAIN = `${declared('labels: {drained: "yes"}')}spec: {taints: [{key: maintenance, effect: NoSelect}]}\n`;
const WORD = declared('annotations: {berth.dev/prune: enabled}');

/** A hub with a joined cluster, a controller with all duties and an agent, each a process of its own. */
class Fleet {
  readonly dir = mkdtempSync(join(tmpdir(), 'berth-reverted-drain-'));
  readonly git = new GitFixture();
  readonly #processes: BerthProcess[] = [];
  readonly #clients: HttpKubeApi[] = [];
  agent!: BerthProcess;
  hub!: HubSide;
  member!: HttpKubeApi;

  async start(): Promise<void> {
    this.git.commit({ 'fleet.yaml': FLEET });
    const listen = `127.0.0.1:${String(await freePort())}`;
    const starts = this.run(['hub', '--data', this.data, '--listen', listen, '--members', '2']);
    await expect.poll(() => existsSync(this.kubeconfig) && starts.text.includes('\n'), PATIENT).toBe(true);
    this.hub = new HubSide(this.#client(this.kubeconfig));
    this.member = this.#client(join(this.data, 'admin-cluster1.kubeconfig'));
    await this.hub.prepareBootstrap(BOOTSTRAP_USER);
    await this.invite();
    this.run([
      ...[
        'serve',
        '--repo',
        this.git.path,
        '--ref',
        'main',
        '--poll',
        '1s',
        '--kubeconfig',
        this.kubeconfig,
        '--embedded',
      ],
      ...['--data', join(this.dir, 'serve'), '--listen', '127.0.0.1:0'],
      ...['--registration', 'all', '--auto-accept-user', BOOTSTRAP_USER],
    ]);
    [this.agent] = ['1', '2'].map((number) =>
      this.run([
        ...['agent', '--bootstrap-kubeconfig', this.#bootstrap, '--cluster-name', `edge-${number}`],
        ...['--hub-kubeconfig-dir', join(this.dir, `agent-${number}`)],
        ...['--kubeconfig', join(this.data, `admin-cluster${number}.kubeconfig`)],
      ]),
    ) as [BerthProcess];
  }

  get data(): string {
    return join(this.dir, 'hub');
  }

  get kubeconfig(): string {
    return join(this.data, 'admin.kubeconfig');
  }

  get #bootstrap(): string {
    return join(this.dir, 'bootstrap.kubeconfig');
  }

  /** A bootstrap kubeconfig with new credentials, as `berth join` writes one. */
  async invite(): Promise<void> {
    const asked = { dataDir: this.data, user: BOOTSTRAP_USER, groups: [], cluster: '' };
    writeFileSync(this.#bootstrap, await issueKubeconfig(asked, Date.now()));
  }

  run(args: readonly string[]): BerthProcess {
    const process = new BerthProcess(args);
    this.#processes.unshift(process);
    return process;
  }

  /** What `berth plan --hub` says of the last commit against the one before, as JSON, and its exit code. */
  async plan(): Promise<{ readonly code: number | null; readonly plan: Plan }> {
    const process = this.run([
      ...['plan', '--repo', this.git.path, '--base', 'HEAD~1', '--head', 'HEAD', '-o', 'json'],
      ...['--hub', '--embedded', '--kubeconfig', this.kubeconfig],
    ]);
    const { code } = await process.ended;
    return { code, plan: JSON.parse(process.text.slice(process.text.indexOf('{'))) as Plan };
  }

  async decided(): Promise<readonly string[]> {
    const { items } = await this.hub.api.list(PLACEMENT_DECISION, { namespace: 'shop' });
    return items
      .flatMap(
        ({ status }) => (status as { decisions?: { clusterName: string }[] } | undefined)?.decisions ?? [],
      )
      .map(({ clusterName }) => clusterName)
      .sort();
  }

  /** Whether the workload runs on the cluster: its uid. */
  async workload(): Promise<string | undefined> {
    return (await this.member.get(CONFIG_MAP, { namespace: 'default', name: 'web' }))?.metadata.uid;
  }

  #client(file: string): HttpKubeApi {
    const api = new HttpKubeApi({ config: loadKubeConfig({ file }), clock: systemClock });
    this.#clients.push(api);
    return api;
  }

  async close(): Promise<void> {
    for (const process of this.#processes.splice(0)) await process.kill();
    for (const client of this.#clients) client.close();
    this.git.remove();
    rmSync(this.dir, { recursive: true, force: true });
  }
}

interface Plan {
  readonly hasChanges: boolean;
  readonly objects: readonly {
    readonly change: string;
    readonly ref: { readonly kind: string };
    readonly because?: string;
  }[];
  readonly findings: readonly { readonly code: string; readonly subject: string; readonly message: string }[];
  readonly placements: readonly { readonly added: readonly { readonly cluster: string }[] }[];
}

let fleet: Fleet;
beforeEach(async () => {
  fleet = new Fleet();
  await fleet.start();
});
afterEach(() => fleet.close());

it('a drain by commit and its revert leave the cluster registered; only the word for it unregisters it, and join repairs it', async () => {
  await expect.poll(() => fleet.decided(), PATIENT).toEqual(BOTH);
  await expect.poll(() => fleet.workload(), PATIENT).toBeDefined();
  const before = await fleet.hub.cluster(CLUSTER);

  fleet.git.commit({ 'cluster.yaml': DRAIN });
  await expect.poll(() => fleet.decided(), PATIENT).toEqual(['edge-2']);
  await expect.poll(() => fleet.workload(), PATIENT).toBeUndefined();

  // A plan of what the controller does not have yet.
  fleet.git.run('checkout', '-q', '-b', 'revert');
  fleet.git.commit({ 'cluster.yaml': undefined });
  const reverted = await fleet.plan();
  expect(reverted).toMatchObject({
    code: 2,
    plan: { findings: [], placements: [{ added: [{ cluster: CLUSTER }] }] },
  });
  expect(reverted.plan.objects).toMatchObject([
    { change: 'withdrawn', because: 'is registered, and its agent works', ref: { name: CLUSTER } },
  ]);
  fleet.git.merge('revert');
  await expect.poll(() => fleet.decided(), PATIENT).toEqual(BOTH);
  await expect.poll(() => fleet.workload(), PATIENT).toBeDefined();
  const after = await fleet.hub.cluster(CLUSTER);
  expect(after?.metadata.uid).toBe(before?.metadata.uid);
  expect([after?.metadata.labels, after?.spec]).toEqual([before?.metadata.labels, before?.spec]);

  fleet.git.commit({ 'cluster.yaml': WORD });
  const asked = async () => (await fleet.hub.cluster(CLUSTER))?.metadata.annotations?.['berth.dev/prune'];
  await expect.poll(asked, PATIENT).toBe('enabled');
  fleet.git.run('checkout', '-q', '-b', 'unregister');
  fleet.git.commit({ 'cluster.yaml': undefined });
  const { code, plan } = await fleet.plan();
  expect({ code, first: plan.findings[0] }).toMatchObject({
    code: 2,
    first: {
      code: 'cluster-unregistered',
      subject: `ManagedCluster ${CLUSTER}`,
      message:
        'The change unregisters a live cluster: its agent works, and loses its rights on the hub until the cluster joins again. Its 1 workload and what runs there are removed.',
    },
  });
  fleet.git.merge('unregister');
  await expect.poll(() => fleet.hub.cluster(CLUSTER), PATIENT).toBeUndefined();
  await expect.poll(() => fleet.agent.text, PATIENT).toContain('the hub has deleted this cluster');
  expect(await fleet.workload()).toBeUndefined();

  await fleet.invite();
  await expect.poll(() => fleet.decided(), PATIENT).toEqual(BOTH);
  await expect.poll(() => fleet.workload(), PATIENT).toBeDefined();
});
