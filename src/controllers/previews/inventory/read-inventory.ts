import { compareText } from '@berth/runtime/text/compare-text';
import pLimit from 'p-limit';
import { secretTexts } from '@berth/kube/secret-texts';
import { APPLICATION_SET } from '../../../core/argocd/argocd-kinds.ts';
import { SECRET_TYPE_LABEL } from '../../../core/argocd/cluster-secrets/cluster-secret.ts';
import { BerthError, errorText } from '@berth/runtime/errors';
import {
  ADDON_PLACEMENT_SCORE,
  apiVersionOf,
  CLUSTER_MANAGEMENT_ADDON,
  CONFIG_MAP,
  BUILTIN_KINDS,
  CUSTOM_RESOURCE_DEFINITION,
  type KindInfo,
  LEASE,
  MANAGED_CLUSTER,
  MANAGED_CLUSTER_ADDON,
  MANAGED_CLUSTER_SET,
  MANAGED_CLUSTER_SET_BINDING,
  MANIFEST_WORK,
  MANIFEST_WORK_REPLICA_SET,
  PLACEMENT,
  PLACEMENT_DECISION,
  SECRET,
} from '@berth/kube/model/kinds';
import type { KubeObject } from '@berth/kube/model/object-meta';
import { objectIdentity, refOf } from '@berth/kube/model/object-ref';
import type { KubeApi, ListOptions } from '@berth/kube/model/kube-api';
import {
  type Inventory,
  INVENTORY_VERSION,
  type UnreadKind,
} from '../../../core/preview/inventory/inventory.ts';
import { redactObject } from '../../../core/preview/inventory/redact-object.ts';
import { REMOVALS_CONFIG_MAP } from '../../../core/publish/judge/removal-budget.ts';
import { RECORDS_LABEL } from '../../../core/publish/record/compact-record.ts';
import {
  APPLY_SET_ID_LABEL,
  APPLY_SET_PART_OF_LABEL,
  DEFAULT_NAMESPACE,
  memberKinds,
  uniqueKinds,
} from '../../../core/sync/apply-set.ts';
import { CONTROLLER_LEASES } from '../../inventory/schedulable-placement.ts';
import { sha256 } from '@berth/runtime/sha256';

/** Concurrent requests. */
const CONCURRENCY = 8;

/** A plan cannot be made without these kinds. */
const NEEDED = [
  PLACEMENT,
  MANAGED_CLUSTER,
  MANAGED_CLUSTER_SET,
  MANAGED_CLUSTER_SET_BINDING,
  PLACEMENT_DECISION,
  ADDON_PLACEMENT_SCORE,
];

/** What counts toward the removal budget of add-ons. */
const REMOVALS = {
  namespace: DEFAULT_NAMESPACE,
  fieldSelector: `metadata.name=${REMOVALS_CONFIG_MAP}`,
};

const WHERE_SERVED = [
  MANIFEST_WORK,
  MANIFEST_WORK_REPLICA_SET,
  CLUSTER_MANAGEMENT_ADDON,
  MANAGED_CLUSTER_ADDON,
];

export interface InventoryReading {
  /** RFC 3339. The time of reading. */
  readonly takenAt: string;
  /** Version of Berth. */
  readonly engine: string;
  readonly argocdNamespace: string;
}

/**
 * Reads from a hub what a plan needs. If an optional kind cannot be read, the inventory notes it.
 * @throws BerthError when clusters, sets, bindings, scores, placements or decisions cannot be read
 */
export async function readInventory(api: KubeApi, reading: InventoryReading): Promise<Inventory> {
  const reader = new InventoryReader(api, reading.argocdNamespace);
  await Promise.all(NEEDED.map((kind) => reader.take(kind)));
  await reader.takeKinds();
  const { argocdNamespace: namespace } = reading;
  await Promise.all([
    ...WHERE_SERVED.map((kind) => reader.takeWhereServed(kind)),
    reader.takeMembers(),
    reader.tryTake(CONFIG_MAP, REMOVALS),
    reader.tryTake(CONFIG_MAP, { labelSelector: RECORDS_LABEL }),
    reader.takeControllers(),
    reader.takeArgo(namespace),
  ]);
  return {
    kind: 'BerthInventory',
    version: INVENTORY_VERSION,
    ...reading,
    hub: api.server,
    ...reader.result(),
  };
}

class InventoryReader {
  readonly #api: KubeApi;
  readonly #argocdNamespace: string;
  readonly #limit = pLimit(CONCURRENCY);
  readonly #kinds = new Map<string, KindInfo>();
  readonly #objects = new Map<string, KubeObject>();
  readonly #unread = new Map<string, UnreadKind>();

  constructor(api: KubeApi, argocdNamespace: string) {
    this.#api = api;
    this.#argocdNamespace = argocdNamespace;
  }

  result(): Pick<Inventory, 'kinds' | 'objects' | 'unread'> {
    const sorted = <T>(map: ReadonlyMap<string, T>): readonly T[] =>
      [...map].sort(([a], [b]) => compareText(a, b)).map(([, value]) => value);
    return { kinds: sorted(this.#kinds), objects: sorted(this.#objects), unread: sorted(this.#unread) };
  }

  /**
   * Reads objects, and stores them redacted.
   * @returns the objects as the hub has them, with apiVersion and kind
   */
  async take(kind: KindInfo, options: ListOptions = {}): Promise<readonly KubeObject[]> {
    const { items } = await this.#limit(() => this.#api.list(kind, options));
    // The items of a list have no apiVersion and kind.
    const named = items.map((item) => ({ ...item, apiVersion: apiVersionOf(kind), kind: kind.kind }));
    for (const object of named) {
      const known = redactObject(object, kind, {
        argocdNamespace: this.#argocdNamespace,
        textsOf: secretTexts,
        digest: sha256,
      });
      if (known !== undefined) this.#objects.set(objectIdentity(refOf(known)), known);
    }
    return named;
  }

  async tryTake(kind: KindInfo, options?: ListOptions): Promise<readonly KubeObject[]> {
    return this.#attempt(kind, () => this.take(kind, options));
  }

  async takeWhereServed(kind: KindInfo): Promise<void> {
    if (this.#isServed(kind)) await this.tryTake(kind);
  }

  /** The kinds that the hub serves: those of Kubernetes, and those of its CustomResourceDefinitions. */
  async takeKinds(): Promise<void> {
    const resolve = async (apiVersion: string, kind: string): Promise<void> => {
      const info = await this.#limit(() => this.#api.resolve(apiVersion, kind));
      if (info !== undefined) this.#kinds.set(`${apiVersion}/${kind}`, info);
    };
    const definitions = await this.#attempt(CUSTOM_RESOURCE_DEFINITION, async () => {
      return (await this.#api.list(CUSTOM_RESOURCE_DEFINITION)).items;
    });
    for (const info of definitions.flatMap(kindsOf))
      this.#kinds.set(`${apiVersionOf(info)}/${info.kind}`, info);
    const kinds = [...BUILTIN_KINDS, ...NEEDED, ...WHERE_SERVED, APPLICATION_SET];
    const names = new Map(
      kinds.map((info) => {
        const apiVersion = apiVersionOf(info);
        return [`${apiVersion}/${info.kind}`, { apiVersion, kind: info.kind }];
      }),
    );
    await Promise.all(
      [...names.values()].map(({ apiVersion, kind }) =>
        this.#attempt({ group: '', kind }, () => resolve(apiVersion, kind).then(() => [])),
      ),
    );
  }

  /** The objects that sources applied. For kinds that a plan does not read, only their existence is stored. */
  async takeMembers(): Promise<void> {
    const parents = await this.tryTake(CONFIG_MAP, { labelSelector: APPLY_SET_ID_LABEL });
    await Promise.all(
      uniqueKinds(parents.flatMap(memberKinds)).map(async ({ apiVersion, kind }) => {
        const info = this.#kinds.get(`${apiVersion}/${kind}`) ?? (await this.#api.resolve(apiVersion, kind));
        if (info === undefined) return;
        this.#kinds.set(`${apiVersion}/${kind}`, info);
        await this.tryTake(info, { labelSelector: APPLY_SET_PART_OF_LABEL });
      }),
    );
  }

  /** A plan can do without: a flag says the same. */
  async takeControllers(): Promise<void> {
    try {
      await this.take(LEASE, CONTROLLER_LEASES);
    } catch (error) {
      if (!(error instanceof BerthError)) throw error;
    }
  }

  async takeArgo(namespace: string): Promise<void> {
    if (!this.#isServed(APPLICATION_SET)) return;
    await Promise.all([
      this.tryTake(APPLICATION_SET),
      this.tryTake(CONFIG_MAP, { namespace }),
      this.tryTake(SECRET, { namespace, labelSelector: `${SECRET_TYPE_LABEL}=cluster` }),
    ]);
  }

  #isServed(kind: KindInfo): boolean {
    return this.#kinds.has(`${apiVersionOf(kind)}/${kind.kind}`);
  }

  async #attempt(
    { group, kind }: Pick<KindInfo, 'group' | 'kind'>,
    read: () => Promise<readonly KubeObject[]>,
  ): Promise<readonly KubeObject[]> {
    try {
      return await read();
    } catch (error) {
      if (!(error instanceof BerthError)) throw error;
      this.#unread.set(`${group}/${kind}`, { group, kind, problem: errorText(error) });
      return [];
    }
  }
}

interface Definition {
  readonly group?: string;
  readonly scope?: string;
  readonly names?: { readonly kind?: string; readonly plural?: string };
  readonly versions?: readonly { readonly name?: string; readonly served?: boolean }[];
}

function kindsOf(definition: KubeObject): readonly KindInfo[] {
  const { group = '', scope, names = {}, versions = [] } = (definition['spec'] ?? {}) as Definition;
  const { kind = '', plural = '' } = names;
  return versions.flatMap(({ name, served }) =>
    name === undefined || served !== true
      ? []
      : [{ group, version: name, kind, plural, namespaced: scope === 'Namespaced' }],
  );
}
