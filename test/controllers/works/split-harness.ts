import { type Agent, startAgent } from '@berth/agent/start-agent';
import { type KindInfo, MANIFEST_WORK_REPLICA_SET } from '@berth/kube/model/kinds';
import type { DeleteOptions, KubeApi, ObjectKey } from '@berth/kube/model/kube-api';
import { FakeKubeApi } from '@berth/test-kit/fake-kube-api';
import { SilentLogger } from '@berth/test-kit/silent-logger';
import { CONFIG_MAP } from '../../../packages/agent/test/agent-harness.ts';
import { Fleet, WORK_API } from './work-fleet.ts';

/** A member that remembers which of its ConfigMaps somebody deleted. */
class Member extends FakeKubeApi {
  readonly deleted: string[] = [];

  constructor() {
    super();
    this.addKind(CONFIG_MAP);
  }

  override delete(kind: KindInfo, key: ObjectKey, options?: DeleteOptions): Promise<boolean> {
    if (kind.plural === CONFIG_MAP.plural) this.deleted.push(key.name);
    return super.delete(kind, key, options);
  }

  /** `name: value uid` of every ConfigMap. */
  async contents(): Promise<Record<string, string>> {
    const { items } = await this.list(CONFIG_MAP);
    return Object.fromEntries(
      items.map(({ metadata, ...rest }) => [
        metadata.name,
        `${(rest['data'] as { value: string }).value} ${metadata.uid}`,
      ]),
    );
  }
}

/** Sizes of six ConfigMaps, in KiB: each story cuts them elsewhere. */
const CUTS = {
  'four and two': [90, 90, 90, 90, 90, 90],
  'three and three': [200, 90, 90, 90, 90, 90],
  'all in one': [10, 90, 90, 90, 90, 90],
  'one, three and two': [380, 90, 90, 180, 90, 90],
} as const;
export type Cut = keyof typeof CUTS;
/** Works it then takes. */
export const PARTS: Readonly<Record<Cut, number>> = {
  'four and two': 2,
  'three and three': 2,
  'all in one': 1,
  'one, three and two': 3,
};

/** A hub with the work controllers, and one member with its agent. */
export class SplitHarness {
  readonly fleet = new Fleet();
  readonly member = new Member();
  #agent: Agent | undefined;

  async start(through: KubeApi = this.fleet.hub): Promise<void> {
    this.#agent ??= startAgent({
      hub: this.fleet.hub,
      cluster: this.member,
      clusterName: 'c1',
      clock: this.fleet.clock,
      log: new SilentLogger(),
      random: () => 0.5,
    });
    await this.fleet.start(through);
  }

  async cut(cut: Cut, value: string): Promise<void> {
    const manifests = CUTS[cut].map((kib, index) => ({
      apiVersion: 'v1',
      kind: 'ConfigMap',
      metadata: { name: `m${index}`, namespace: 'default' },
      data: { value, fill: 'x'.repeat(kib * 1024) },
    }));
    await this.fleet.put(MANIFEST_WORK_REPLICA_SET, {
      apiVersion: `${WORK_API}/v1alpha1`,
      kind: 'ManifestWorkReplicaSet',
      metadata: { name: 'web', namespace: 'team' },
      spec: { manifestWorkTemplate: { workload: { manifests } }, placementRefs: [{ name: 'all' }] },
    });
  }

  async stop(): Promise<void> {
    await this.#agent?.close();
    await this.fleet.stop();
  }
}
