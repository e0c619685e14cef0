import { ConflictError, InputError } from '@berth/runtime/errors';
import { parseExactIntegers } from '@berth/runtime/json/exact-json';
import { canonicalJson, jsonText } from '@berth/runtime/json/json-equal';
import { apiVersionOf, type KindInfo, OCM_KINDS } from '@berth/kube/model/kinds';
import type { KubeObject } from '@berth/kube/model/object-meta';
import { namespacedName } from '@berth/kube/model/object-ref';
import type {
  DeleteOptions,
  KubeApi,
  ListOptions,
  ObjectKey,
  ObjectList,
  WatchEvent,
  WatchOptions,
  WriteOptions,
} from '@berth/kube/model/kube-api';
import { mergePatch } from '@berth/runtime/json/merge-patch';
import { leafPaths, type Path, removeAt, setAt, valueAt } from './field-ownership.ts';

type Mutable = Record<string, unknown> & { metadata: Record<string, unknown> };

interface LoggedEvent {
  readonly version: number;
  readonly plural: string;
  readonly event: Exclude<WatchEvent, { type: 'bookmark' }>;
}

/** A Kubernetes API in memory, as strict as Berth's use of it needs. */
export class FakeKubeApi implements KubeApi {
  readonly server = 'https://fake.invalid';
  readonly requests: string[] = [];
  readonly #objects = new Map<string, KubeObject>();
  readonly #owned = new Map<string, Map<string, Path[]>>();
  readonly #log: LoggedEvent[] = [];
  readonly #wakers = new Set<() => void>();
  readonly #kinds: KindInfo[] = [...OCM_KINDS];
  #version = 100;
  #expiredBefore = 0;
  #nextUid = 1;

  /** Writes so far: what "zero writes" is asserted on. */
  get writes(): readonly string[] {
    return this.requests.filter((line) => !/^(GET|LIST|WATCH) /.test(line));
  }

  /** Called after every change of an object. */
  onWrite: () => void = () => undefined;

  /** The objects that are there now, without a request. */
  peek(kind: KindInfo): readonly KubeObject[] {
    const prefix = `${kind.group}/${kind.plural} `;
    return [...this.#objects].filter(([id]) => id.startsWith(prefix)).map(([, object]) => object);
  }

  addKind(kind: KindInfo): void {
    this.#kinds.push(kind);
  }

  /** Watches and lists from before now get 410. */
  expire(): void {
    this.#expiredBefore = ++this.#version;
    this.#wake();
  }

  async get(kind: KindInfo, key: ObjectKey): Promise<KubeObject | undefined> {
    this.requests.push(`GET ${kind.plural} ${namespacedName(key)}`);
    return clone(this.#objects.get(idOf(kind, key)));
  }

  async list(kind: KindInfo, options: ListOptions = {}): Promise<ObjectList> {
    const { fieldSelector } = options;
    this.requests.push(`LIST ${kind.plural}${fieldSelector === undefined ? '' : ` ${fieldSelector}`}`);
    const prefix = `${kind.group}/${kind.plural} `;
    const items = [...this.#objects]
      .filter(([id, object]) => id.startsWith(prefix) && matches(object, options))
      .sort(([a], [b]) => (a < b ? -1 : 1))
      .map(([, object]) => clone(object));
    return { items, resourceVersion: String(this.#version) };
  }

  async *watch(kind: KindInfo, options: WatchOptions): AsyncGenerator<WatchEvent> {
    this.requests.push(`WATCH ${kind.plural}`);
    let from = Number(options.resourceVersion);
    options.onOpen?.();
    while (!options.signal.aborted) {
      if (from < this.#expiredBefore)
        throw new InputError('the resourceVersion is too old', {
          code: 'kube.expired',
          subject: kind.plural,
        });
      const next = this.#log.find((entry) => entry.version > from && entry.plural === kind.plural);
      if (next === undefined) await this.#change(options.signal);
      else {
        from = next.version;
        if (matches(next.event.object, options)) yield clone(next.event);
      }
    }
  }

  async create(kind: KindInfo, object: KubeObject, options: WriteOptions = {}): Promise<KubeObject> {
    const name = object.metadata.name ?? `${object.metadata.generateName}${this.#nextUid}`;
    const key = keyOf(kind, { ...object.metadata, name });
    this.requests.push(`POST ${kind.plural} ${namespacedName(key)}`);
    if (this.#objects.has(idOf(kind, key))) throw conflict('kube.alreadyexists', kind, key);
    const made = clone(object) as unknown as Mutable;
    if (hasStatus(kind)) delete made['status'];
    made.metadata = { ...made.metadata, name };
    return this.#store(kind, key, made as unknown as KubeObject, options);
  }

  async update(kind: KindInfo, object: KubeObject, options: WriteOptions = {}): Promise<KubeObject> {
    const key = keyOf(kind, object.metadata);
    this.requests.push(`PUT ${kind.plural} ${namespacedName(key)}${suffix(options)}`);
    const before = this.#require(kind, key);
    if (object.metadata.resourceVersion === undefined)
      throw new InputError('metadata.resourceVersion must be specified', {
        code: 'kube.invalid',
        subject: key.name,
      });
    this.#checkPreconditions(kind, before, object.metadata);
    return this.#store(kind, key, onlyChanged(kind, before, object, options), options);
  }

  async mergePatch(
    kind: KindInfo,
    key: ObjectKey,
    patch: object,
    options: WriteOptions = {},
  ): Promise<KubeObject> {
    this.requests.push(`PATCH ${kind.plural} ${namespacedName(key)}${suffix(options)}`);
    const before = this.#require(kind, key);
    const metadata = (patch as { metadata?: { uid?: string; resourceVersion?: string } }).metadata ?? {};
    this.#checkPreconditions(kind, before, metadata);
    const after = mergePatch(clone(before), patch) as KubeObject;
    return this.#store(kind, key, onlyChanged(kind, before, after, options), options);
  }

  async apply(
    kind: KindInfo,
    object: KubeObject,
    options: WriteOptions & { readonly fieldManager: string; readonly force?: boolean },
  ): Promise<KubeObject> {
    const key = keyOf(kind, object.metadata);
    const id = idOf(kind, key);
    this.requests.push(`APPLY ${kind.plural} ${namespacedName(key)}${suffix(options)}`);
    const wanted = clone(object) as unknown as Mutable;
    if (hasStatus(kind) && options.subresource !== 'status') delete wanted['status'];
    const before = this.#objects.get(id);
    const after = clone(
      before ?? { apiVersion: object.apiVersion, kind: object.kind, metadata: { ...key } },
    ) as unknown as Mutable;
    if (!kind.namespaced) delete after.metadata['namespace'];
    const owners = this.#owned.get(id) ?? new Map<string, Path[]>();
    const paths = leafPaths(wanted).filter((path) => !isIdentity(path));
    this.#refuseConflicts({ kind, key, before, wanted, paths, owners, options });
    for (const path of paths) setAt(after, path, valueAt(wanted, path));
    for (const path of owners.get(options.fieldManager) ?? [])
      if (!includes(paths, path) && !ownedByOther(owners, options.fieldManager, path)) removeAt(after, path);
    if (options.dryRun !== true) {
      if (options.force === true)
        for (const [manager, owned] of owners)
          owners.set(
            manager,
            owned.filter(
              (path) => !includes(paths, path) || same(valueAt(before, path), valueAt(wanted, path)),
            ),
          );
      owners.set(options.fieldManager, paths);
      this.#owned.set(id, owners);
    }
    return this.#store(kind, key, after as unknown as KubeObject, options);
  }

  async delete(kind: KindInfo, key: ObjectKey, options: DeleteOptions = {}): Promise<boolean> {
    this.requests.push(`DELETE ${kind.plural} ${namespacedName(key)}`);
    const id = idOf(kind, key);
    const before = this.#objects.get(id);
    if (before === undefined) return false;
    this.#checkPreconditions(kind, before, options);
    if ((before.metadata.finalizers ?? []).length > 0) {
      const deletionTimestamp = before.metadata.deletionTimestamp ?? '2026-01-01T00:00:00Z';
      this.#store(kind, key, { ...before, metadata: { ...before.metadata, deletionTimestamp } }, {});
    } else this.#remove(kind, id, before);
    return true;
  }

  async resolve(apiVersion: string, kind: string): Promise<KindInfo | undefined> {
    return this.#kinds.find((info) => apiVersionOf(info) === apiVersion && info.kind === kind);
  }

  #require(kind: KindInfo, key: ObjectKey): KubeObject {
    const found = this.#objects.get(idOf(kind, key));
    if (found !== undefined) return found;
    throw new InputError('not found', {
      code: 'kube.notfound',
      subject: `${kind.plural} ${namespacedName(key)}`,
    });
  }

  #checkPreconditions(
    kind: KindInfo,
    before: KubeObject,
    want: { uid?: string | undefined; resourceVersion?: string | undefined },
  ): void {
    for (const field of ['uid', 'resourceVersion'] as const)
      if (want[field] !== undefined && want[field] !== before.metadata[field])
        throw conflict('kube.conflict', kind, keyOf(kind, before.metadata));
  }

  #refuseConflicts(input: {
    kind: KindInfo;
    key: ObjectKey;
    before: KubeObject | undefined;
    wanted: Mutable;
    paths: Path[];
    owners: Map<string, Path[]>;
    options: { fieldManager: string; force?: boolean };
  }): void {
    if (input.options.force === true) return;
    const causes = input.paths
      .filter(
        (path) =>
          ownedByOther(input.owners, input.options.fieldManager, path) &&
          !same(valueAt(input.before, path), valueAt(input.wanted, path)),
      )
      .map((path) => ({
        reason: 'FieldManagerConflict',
        field: `.${path.join('.')}`,
        message: `conflict with "${ownerOf(input.owners, input.options.fieldManager, path)}"`,
      }));
    if (causes.length > 0)
      throw new ConflictError('field conflicts', {
        code: 'kube.conflict',
        subject: namespacedName(input.key),
        cause: { kind: 'Status', code: 409, reason: 'Conflict', details: { causes } },
      });
  }

  #store(kind: KindInfo, key: ObjectKey, object: KubeObject, options: WriteOptions): KubeObject {
    const id = idOf(kind, key);
    const before = this.#objects.get(id);
    const { uid, generation, creationTimestamp, resourceVersion } = before?.metadata ?? {};
    const specChanged = before !== undefined && !same(specOf(before), specOf(object));
    const metadata = {
      ...object.metadata,
      uid: uid ?? `uid-${this.#nextUid++}`,
      creationTimestamp: creationTimestamp ?? '2026-01-01T00:00:00Z',
      generation: (generation ?? 1) + (specChanged ? 1 : 0),
      resourceVersion,
    };
    const next = { ...object, metadata } as KubeObject;
    if (before !== undefined && same(before, next)) return answer(before, options);
    if (options.dryRun === true) return answer(next, options);
    const stored = {
      ...next,
      metadata: { ...metadata, resourceVersion: String(++this.#version) },
    } as KubeObject;
    if (stored.metadata.deletionTimestamp !== undefined && (stored.metadata.finalizers ?? []).length === 0) {
      this.#remove(kind, id, stored);
      return answer(stored, options);
    }
    this.#objects.set(id, clone(stored));
    this.#emit(kind, { type: before === undefined ? 'added' : 'modified', object: clone(stored) });
    return answer(stored, options);
  }

  #remove(kind: KindInfo, id: string, last: KubeObject): void {
    this.#objects.delete(id);
    this.#owned.delete(id);
    const metadata = { ...last.metadata, resourceVersion: String(++this.#version) };
    this.#emit(kind, { type: 'deleted', object: { ...last, metadata } });
  }

  #emit(kind: KindInfo, event: LoggedEvent['event']): void {
    this.#log.push({ version: this.#version, plural: kind.plural, event });
    this.onWrite();
    this.#wake();
  }

  #wake(): void {
    for (const wake of [...this.#wakers]) wake();
  }

  #change(signal: AbortSignal): Promise<void> {
    return new Promise((resolve) => {
      const done = (): void => {
        this.#wakers.delete(done);
        signal.removeEventListener('abort', done);
        resolve();
      };
      this.#wakers.add(done);
      signal.addEventListener('abort', done, { once: true });
    });
  }
}

function answer(object: KubeObject, { metadataOnly }: WriteOptions): KubeObject {
  const whole = clone(object);
  return metadataOnly === true
    ? { apiVersion: 'meta.k8s.io/v1', kind: 'PartialObjectMetadata', metadata: whole.metadata }
    : whole;
}

function clone<T>(value: T): T {
  return value === undefined ? value : (parseExactIntegers(jsonText(value)) as T);
}

function same(a: unknown, b: unknown): boolean {
  return canonicalJson(a) === canonicalJson(b);
}

function specOf(object: KubeObject): unknown {
  const { metadata: _metadata, status: _status, ...rest } = object;
  return rest;
}

function hasStatus(kind: KindInfo): boolean {
  return kind.group === 'apps' || kind.group.endsWith('open-cluster-management.io');
}

function onlyChanged(
  kind: KindInfo,
  before: KubeObject,
  after: KubeObject,
  options: WriteOptions,
): KubeObject {
  if (!hasStatus(kind)) return after;
  if (options.subresource === 'status') return { ...before, status: after['status'] };
  const { status: _status, ...rest } = after;
  return before['status'] === undefined ? rest : { ...rest, status: before['status'] };
}

function keyOf(kind: KindInfo, meta: { namespace?: string | undefined; name: string }): ObjectKey {
  return { namespace: kind.namespaced ? (meta.namespace ?? '') : '', name: meta.name };
}

function idOf(kind: KindInfo, key: ObjectKey): string {
  return `${kind.group}/${kind.plural} ${key.namespace}/${key.name}`;
}

function suffix(options: WriteOptions): string {
  return (
    (options.subresource === undefined ? '' : `/${options.subresource}`) +
    (options.dryRun === true ? ' (dry run)' : '')
  );
}

function conflict(code: string, kind: KindInfo, key: ObjectKey): ConflictError {
  return new ConflictError('conflict', { code, subject: `${kind.plural} ${namespacedName(key)}` });
}

function isIdentity(path: Path): boolean {
  const joined = path.join('.');
  return ['apiVersion', 'kind', 'metadata.name', 'metadata.namespace'].includes(joined);
}

function includes(paths: readonly Path[], path: Path): boolean {
  return paths.some((candidate) => same(candidate, path));
}

function ownerOf(owners: ReadonlyMap<string, Path[]>, manager: string, path: Path): string | undefined {
  return [...owners].find(([name, owned]) => name !== manager && includes(owned, path))?.[0];
}

function ownedByOther(owners: ReadonlyMap<string, Path[]>, manager: string, path: Path): boolean {
  return ownerOf(owners, manager, path) !== undefined;
}

/** Equality selectors only (`a=b,c=d`) and `metadata.name=x`. */
function matches(object: KubeObject, options: ListOptions): boolean {
  const { namespace, labelSelector, fieldSelector } = options;
  if (namespace !== undefined && namespace !== '' && object.metadata.namespace !== namespace) return false;
  // KEY, KEY=VALUE or KEY in (VALUES)
  for (const term of (labelSelector ?? '').split(/,(?![^(]*\))/).filter(Boolean)) {
    const [, key = '', value] = /^([^\s=]+)(?:=|\s+in\s+)?(.+)?$/.exec(term) ?? [];
    const actual = object.metadata.labels?.[key];
    const values = value?.replaceAll(/[()]/g, '').split(',');
    if (actual === undefined || values?.includes(actual) === false) return false;
  }
  const name = /^metadata\.name=(.*)$/.exec(fieldSelector ?? '')?.[1];
  return name === undefined || object.metadata.name === name;
}
