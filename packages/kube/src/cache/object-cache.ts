import { type KindInfo, typeKeyOf } from '../model/kinds.ts';
import type { ListOptions } from '../model/kube-api.ts';
import type { KubeObject } from '../model/object-meta.ts';
import type { Supervisor } from '@berth/runtime/loop/supervisor';
import { KeyIndex } from './object-store.ts';
import { Reflector } from './reflector.ts';
import type { ReflectorOptions } from './reflector-options.ts';

/**
 * How to find objects of a kind by something other than their name. Declare it once, as a constant, because its
 * identity names the index.
 */
export interface IndexDefinition {
  readonly kind: KindInfo;
  /** The keys of an object: none, one or several. */
  readonly keysOf: (object: KubeObject) => string | readonly string[] | undefined;
}

/**
 * Objects of a kind that are followed by themselves, where not all of the kind are. Declare it once, as a constant,
 * because its identity names the part.
 */
export interface PartDefinition {
  readonly selection: ListOptions;
  /** Reduces an object to what is kept. */
  readonly reduce: (object: KubeObject) => KubeObject;
}

interface FollowedPart {
  readonly reflector: Reflector;
  readonly stop: AbortController;
}

export interface ObjectCacheOptions
  extends Pick<ReflectorOptions, 'api' | 'clock' | 'random' | 'log' | 'historyOf' | 'onOtherHistory'> {
  /** Called for each list or watch that fails. */
  readonly onError?: ((kind: KindInfo, error: unknown) => void) | undefined;
  /** By the plural of a kind: reduces its objects to the parts that are kept. All readers see only these parts. */
  readonly transforms?: Readonly<Record<string, ReflectorOptions['transform']>> | undefined;
  /** By the plural of a kind: follows only some of its objects, such as those in one namespace or with a label. */
  readonly scopes?: Readonly<Record<string, ListOptions>> | undefined;
}

/**
 * The objects of a hub that a process keeps: one list, one watch and one copy for each kind, and one index for each
 * definition, shared by all readers in the process. The kinds are independent: one that is refused or silent does not
 * stop the others.
 */
export class ObjectCache {
  readonly #options: ObjectCacheOptions;
  readonly #reflectors = new Map<string, Reflector>();
  readonly #indexes = new Map<IndexDefinition, KeyIndex>();
  readonly #parts = new Map<PartDefinition, Map<string, FollowedPart>>();
  #supervisor: Supervisor | undefined;

  constructor(options: ObjectCacheOptions) {
    this.#options = options;
  }

  /** The reflectors of all kinds and parts that are followed. */
  get reflectors(): readonly Reflector[] {
    const parts = [...this.#parts.values()].flatMap((kinds) => [...kinds.values()]);
    return [...this.#reflectors.values(), ...parts.map(({ reflector }) => reflector)];
  }

  /** The only reflector of the kind. The first call makes the cache follow the kind. */
  of(kind: KindInfo): Reflector {
    const known = this.#reflectors.get(typeKeyOf(kind));
    if (known !== undefined) return known;
    const transform = this.#options.transforms?.[kind.plural];
    const reflector = this.#reflect(kind, this.#options.scopes?.[kind.plural] ?? {}, transform);
    this.#reflectors.set(typeKeyOf(kind), reflector);
    if (this.#supervisor !== undefined) runReflector(reflector, this.#supervisor);
    return reflector;
  }

  /** The reflector of the kind, if a reader asked for it and all of its objects are followed. */
  whole(kind: KindInfo): Reflector | undefined {
    return this.#options.scopes?.[kind.plural] === undefined
      ? this.#reflectors.get(typeKeyOf(kind))
      : undefined;
  }

  /** The only reflector of a part of the kind. The first call makes the cache follow it. Ask `whole` first. */
  part(kind: KindInfo, definition: PartDefinition): Reflector {
    const kinds = this.#parts.get(definition) ?? new Map<string, FollowedPart>();
    this.#parts.set(definition, kinds);
    const known = kinds.get(typeKeyOf(kind));
    if (known !== undefined) return known.reflector;
    const reflector = this.#reflect(kind, definition.selection, definition.reduce);
    const stop = new AbortController();
    kinds.set(typeKeyOf(kind), { reflector, stop });
    if (this.#supervisor !== undefined) runReflector(reflector, this.#supervisor, stop.signal);
    return reflector;
  }

  /** Stops to follow a part of the kind, and forgets its objects. */
  forget(kind: KindInfo, definition: PartDefinition): void {
    const kinds = this.#parts.get(definition);
    kinds?.get(typeKeyOf(kind))?.stop.abort();
    kinds?.delete(typeKeyOf(kind));
  }

  index(definition: IndexDefinition): KeyIndex {
    let index = this.#indexes.get(definition);
    if (index === undefined) {
      index = new KeyIndex(this.of(definition.kind).store, definition.keysOf);
      this.#indexes.set(definition, index);
    }
    return index;
  }

  /** Lists and watches all kinds, including those that are requested later. Call it once. */
  start(supervisor: Supervisor): void {
    this.#supervisor = supervisor;
    for (const reflector of this.#reflectors.values()) runReflector(reflector, supervisor);
    for (const kinds of this.#parts.values())
      for (const { reflector, stop } of kinds.values()) runReflector(reflector, supervisor, stop.signal);
  }

  /** Lists all kinds again, whatever their watches show. */
  restart(): void {
    for (const reflector of this.reflectors) reflector.restart();
  }

  /** Ends the pauses after failures, because the server answers again. */
  hurry(): void {
    for (const reflector of this.reflectors) reflector.hurry();
  }

  #reflect(kind: KindInfo, selection: ListOptions, transform: ReflectorOptions['transform']): Reflector {
    const { api, clock, random, log, historyOf, onOtherHistory, onError } = this.#options;
    return new Reflector({
      ...selection,
      api,
      kind,
      clock,
      random,
      log,
      historyOf,
      onOtherHistory,
      onError: (error) => onError?.(kind, error),
      ...(transform && { transform }),
    });
  }
}

/** @param stop ends it before the supervisor does */
function runReflector(reflector: Reflector, supervisor: Supervisor, stop?: AbortSignal): void {
  supervisor.start(`watch ${reflector.kind.kind}`, (signal) =>
    reflector.run(stop === undefined ? signal : AbortSignal.any([signal, stop])),
  );
}
