import type { RawClient } from './raw-client.ts';
import type {
  Json,
  Observed,
  ObservedApplied,
  ObservedObject,
  ObservedWork,
  RecordedHistory,
} from './recorded.ts';
import { appliedPath, workPath } from './take-step.ts';

/** Metadata that differs from run to run. */
const VOLATILE = ['uid', 'resourceVersion', 'generation', 'creationTimestamp', 'managedFields', 'selfLink'];

/** Looks at one history's works and objects and writes them down as the recording does. */
export class Observer {
  readonly #client: RawClient;
  readonly #hash: string;
  readonly #history: RecordedHistory;
  readonly #uids = new Map<string, string>();
  #times: ReadonlyMap<string, string> = new Map();
  readonly #hashes = new Map<string, string>();
  #newTimes = new Map<string, string>();
  #newUids = new Map<string, string>();

  constructor(client: RawClient, hash: string, history: RecordedHistory) {
    this.#client = client;
    this.#hash = hash;
    this.#history = history;
  }

  /** @param like the recorded observation: says what is to be looked at */
  async look(like: Observed): Promise<Observed> {
    this.#newTimes = new Map();
    this.#newUids = new Map(this.#uids);
    const { name } = this.#history;
    const applied: ObservedObject[] = [];
    for (const { path } of like.applied) applied.push(await this.#object(path));
    const others: Record<string, { work: ObservedWork | null; appliedManifestWork: ObservedApplied | null }> =
      {};
    for (const other of Object.keys(like.others ?? {}))
      others[other] = { work: await this.#work(other), appliedManifestWork: await this.#applied(other) };
    return {
      work: await this.#work(name),
      applied,
      appliedManifestWork: await this.#applied(name),
      ...(like.others === undefined ? {} : { others }),
    };
  }

  /** What was seen last is what "moved" and "recreated" are measured from. */
  commit(): void {
    this.#times = this.#newTimes;
    for (const [key, uid] of this.#newUids) this.#uids.set(key, uid);
  }

  async #work(name: string): Promise<ObservedWork | null> {
    const work = await this.#client.get(workPath(name));
    if (work === undefined) return null;
    const metadata = work['metadata'] as Json & { generation: number; finalizers?: string[] };
    const status = (work['status'] ?? {}) as Partial<ObservedWork>;
    const manifests = status.resourceStatus?.manifests ?? [];
    return this.#clean({
      generation: metadata.generation,
      ...(metadata.finalizers === undefined ? {} : { finalizers: metadata.finalizers }),
      ...(metadata['deletionTimestamp'] === undefined ? {} : { deleting: true }),
      conditions: this.#conditions(name, status.conditions ?? []),
      ...(manifests.length === 0
        ? {}
        : {
            resourceStatus: {
              manifests: manifests.map((manifest) => ({
                ...manifest,
                conditions: this.#conditions(
                  `${name}/${JSON.stringify({ ...manifest.resourceMeta, ordinal: undefined })}`,
                  manifest.conditions,
                ),
              })),
            },
          }),
    });
  }

  #conditions(owner: string, conditions: ObservedWork['conditions']): ObservedWork['conditions'] {
    return [...conditions]
      .sort((a, b) => (a.type < b.type ? -1 : 1))
      .map(({ lastTransitionTime = '', ...condition }) => {
        const key = `${owner} ${condition.type}`;
        const before = this.#times.get(key);
        this.#newTimes.set(key, lastTransitionTime);
        return before !== undefined && before !== lastTransitionTime
          ? { ...condition, moved: true }
          : condition;
      });
  }

  async #object(path: string): Promise<ObservedObject> {
    const found = await this.#client.get(path.replaceAll('HASH', this.#hash));
    if (found === undefined) return { path, object: null };
    const { status: _status, ...object } = found;
    const metadata = found['metadata'] as Json & { uid: string; managedFields?: readonly Json[] };
    const before = this.#uids.get(path);
    this.#newUids.set(path, metadata.uid);
    const kept = Object.fromEntries(Object.entries(metadata).filter(([key]) => !VOLATILE.includes(key)));
    const { deletionTimestamp, deletionGracePeriodSeconds: _grace, ...rest } = kept;
    const owners = rest['ownerReferences'] as { kind: string; name: string }[] | undefined;
    const clean = {
      ...rest,
      ...(owners === undefined ? {} : { ownerReferences: owners.map(({ kind, name }) => ({ kind, name })) }),
      ...(deletionTimestamp === undefined ? {} : { deleting: true }),
    };
    return this.#clean({
      path,
      object: { ...object, metadata: clean },
      managers: managersOf(metadata.managedFields ?? []),
      ...(before !== undefined && before !== metadata.uid ? { recreated: true } : {}),
    });
  }

  async #applied(name: string): Promise<ObservedApplied | null> {
    const found = await this.#client.get(appliedPath(`${this.#hash}-${name}`));
    if (found === undefined) return null;
    const metadata = found['metadata'] as Json & {
      name: string;
      finalizers?: string[];
      labels?: Record<string, string>;
    };
    const status = (found['status'] ?? {}) as { appliedResources?: readonly (Json & { uid?: string })[] };
    return this.#clean({
      name: metadata.name,
      ...(metadata.labels === undefined ? {} : { labels: metadata.labels }),
      ...(metadata.finalizers === undefined ? {} : { finalizers: metadata.finalizers }),
      ...(metadata['deletionTimestamp'] === undefined ? {} : { deleting: true }),
      spec: found['spec'] as ObservedApplied['spec'],
      appliedResources: (status.appliedResources ?? []).map(({ uid: _uid, ...resource }) => resource),
    } as unknown as ObservedApplied);
  }

  /** The hub's hash, and hashes that an agent computes, under names that every run shares. */
  #clean<T>(value: T): T {
    const text = JSON.stringify(value)
      .replaceAll(this.#hash, 'HASH')
      .replaceAll(
        /"(open-cluster-management\.io\/config-spec-hash|operator\.openshift\.io\/spec-hash)":"([^"]+)"/g,
        (_all, key: string, hash: string) => {
          const word = key.startsWith('open') ? 'CONFIGHASH' : 'SPECHASH';
          const known = this.#hashes.get(hash);
          const count = [...this.#hashes.values()].filter((name) => name.startsWith(word)).length;
          const name = known ?? `${word}-${count + 1}`;
          this.#hashes.set(hash, name);
          return `"${key}":"${name}"`;
        },
      );
    return JSON.parse(text) as T;
  }
}

function managersOf(fields: readonly Json[]): readonly string[] {
  return [
    ...new Set(
      fields.map(({ manager, operation, subresource }) =>
        [manager, operation, subresource].filter((part) => part !== undefined && part !== '').join('/'),
      ),
    ),
  ].sort();
}
