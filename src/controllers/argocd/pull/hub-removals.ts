import { InputError } from '@berth/runtime/errors';
import { CONFIG_MAP } from '@berth/kube/model/kinds';
import type { KubeObject } from '@berth/kube/model/object-meta';
import type { Clock } from '@berth/runtime/clock/clock';
import type { KubeApi } from '@berth/kube/model/kube-api';
import type { Digest } from '../../../core/publish/approval/approval-code.ts';
import {
  recentRemovals,
  type Removal,
  type RemovalMemory,
  REMOVALS_CONFIG_MAP,
} from '../../../core/publish/judge/removal-budget.ts';
import { DEFAULT_NAMESPACE } from '../../../core/sync/apply-set.ts';
import { PULL_FIELD_MANAGER } from './pull-inventory.ts';

const KEY = { namespace: DEFAULT_NAMESPACE, name: REMOVALS_CONFIG_MAP } as const;
/** Names of groups contain characters that a ConfigMap key may not have, so the key is a hash. */
const KEY_DIGITS = 24;

interface Entry {
  /** For people who read the ConfigMap. */
  readonly group: string;
  readonly removals: readonly Removal[];
}

/**
 * Keeps the recent removals of pulled works and of add-ons in a ConfigMap on the hub, so that the next leader continues the window of
 * the previous one. It is read for each judgement, which is rare. It is written under the resourceVersion that was
 * read, so that a former leader overwrites nothing.
 */
export class HubRemovals implements RemovalMemory {
  readonly #hub: KubeApi;
  readonly #clock: Clock;
  readonly #digest: Digest;

  constructor({
    hub,
    clock,
    digest,
  }: { readonly hub: KubeApi; readonly clock: Clock; readonly digest: Digest }) {
    this.#hub = hub;
    this.#clock = clock;
    this.#digest = digest;
  }

  /** @throws InputError for a ConfigMap that cannot be parsed: nothing may be removed without it */
  async read(group: string): Promise<readonly Removal[]> {
    const text = dataOf(await this.#hub.get(CONFIG_MAP, KEY))[this.#keyOf(group)];
    return text === undefined ? [] : parseEntry(text).removals;
  }

  async persist(group: string, removals: readonly Removal[]): Promise<void> {
    const found = await this.#hub.get(CONFIG_MAP, KEY);
    const entry: Entry = { group, removals };
    const data = { ...this.#recent(dataOf(found)), [this.#keyOf(group)]: JSON.stringify(entry) };
    const object = { apiVersion: 'v1', kind: 'ConfigMap', metadata: found?.metadata ?? KEY, data };
    if (found === undefined) await this.#hub.create(CONFIG_MAP, object, PULL_FIELD_MANAGER);
    else await this.#hub.update(CONFIG_MAP, object, PULL_FIELD_MANAGER);
  }

  /** Without the groups whose last removal is too old to count. */
  #recent(data: Readonly<Record<string, string>>): Readonly<Record<string, string>> {
    const nowMs = this.#clock.now();
    return Object.fromEntries(
      Object.entries(data).filter(([, text]) => recentRemovals(parseEntry(text).removals, nowMs).length > 0),
    );
  }

  #keyOf(group: string): string {
    return this.#digest(group).slice(0, KEY_DIGITS);
  }
}

/**
 * The stored removals of all groups.
 * @throws InputError for a ConfigMap that cannot be parsed
 */
export async function readHubRemovals(
  hub: Pick<KubeApi, 'get'>,
): Promise<ReadonlyMap<string, readonly Removal[]>> {
  const entries = Object.values(dataOf(await hub.get(CONFIG_MAP, KEY))).map(parseEntry);
  return new Map(entries.map(({ group, removals }) => [group, removals]));
}

function dataOf(object: KubeObject | undefined): Readonly<Record<string, string>> {
  return (object?.['data'] ?? {}) as Readonly<Record<string, string>>;
}

function parseEntry(text: string): Entry {
  const entry = parsed(text);
  const { removals } = (entry ?? {}) as { readonly removals?: unknown };
  if (Array.isArray(removals) && removals.every(isRemoval))
    return { group: (entry as Entry).group, removals };
  throw new InputError('does not hold the removals that Berth wrote', {
    code: 'pull.removals',
    subject: `ConfigMap ${KEY.namespace}/${KEY.name}`,
    hint: `delete it: kubectl -n ${KEY.namespace} delete configmap ${KEY.name} (after that, the removals of the last ten minutes no longer count)`,
  });
}

function parsed(text: string): unknown {
  try {
    return JSON.parse(text);
  } catch {
    return undefined;
  }
}

function isRemoval(value: unknown): value is Removal {
  const { atMs, count } = (value ?? {}) as Partial<Record<keyof Removal, unknown>>;
  return Number.isFinite(atMs) && Number.isSafeInteger(count) && (count as number) >= 0;
}
