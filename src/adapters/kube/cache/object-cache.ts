import type { KindInfo } from '../../../core/model/kinds.ts';
import { apiVersionOf } from '../../../core/model/kinds.ts';
import type { ListOptions } from '../../../core/ports.ts';
import type { KubeObject } from '../../../core/model/object-meta.ts';
import type { Supervisor } from '../../../runtime/supervisor.ts';
import { KeyIndex } from './key-index.ts';
import { Reflector, type ReflectorOptions } from './reflector.ts';

/** How objects of a kind are found by something other than their name. Declared once, as a constant: it identifies the index. */
export interface IndexDefinition {
  readonly kind: KindInfo;
  /** The keys that an object is found by: none, one or several. */
  readonly keysOf: (object: KubeObject) => string | readonly string[] | undefined;
}

export interface ObjectCacheOptions
  extends Pick<ReflectorOptions, 'api' | 'clock' | 'random' | 'log' | 'historyOf' | 'onOtherHistory'> {
  /** Called for each list or watch that failed. */
  readonly onError?: ((kind: KindInfo, error: unknown) => void) | undefined;
  /** Keeps less of the objects of a kind than the server sends, by the plural of the kind. Every reader sees what is kept. */
  readonly transforms?: Readonly<Record<string, ReflectorOptions['transform']>> | undefined;
  /** Follows only some objects of a kind, by the plural of the kind: one namespace, or those with a label. */
  readonly scopes?: Readonly<Record<string, ListOptions>> | undefined;
}

/**
 * The objects that a process keeps of a hub: one list, one watch and one copy per kind, and one index per definition, for every
 * reader in the process. Each kind is followed by itself: one that is refused or silent does not stop the others.
 */
export class ObjectCache {
  readonly #options: ObjectCacheOptions;
  readonly #reflectors = new Map<string, Reflector>();
  readonly #indexes = new Map<IndexDefinition, KeyIndex>();
  #supervisor: Supervisor | undefined;

  constructor(options: ObjectCacheOptions) {
    this.#options = options;
  }

  /** Of all kinds that were asked for. */
  get reflectors(): readonly Reflector[] {
    return [...this.#reflectors.values()];
  }

  /** The only reflector of the kind. The first call decides that the kind is followed. */
  of(kind: KindInfo): Reflector {
    const id = `${apiVersionOf(kind)} ${kind.kind}`;
    const known = this.#reflectors.get(id);
    if (known !== undefined) return known;
    const reflector = this.#reflect(kind);
    this.#reflectors.set(id, reflector);
    if (this.#supervisor !== undefined) run(reflector, this.#supervisor);
    return reflector;
  }

  index(definition: IndexDefinition): KeyIndex {
    let index = this.#indexes.get(definition);
    if (index === undefined) {
      index = new KeyIndex(this.of(definition.kind).store, definition.keysOf);
      this.#indexes.set(definition, index);
    }
    return index;
  }

  /** Lists and watches all kinds, also those that are asked for later. To be called once. */
  start(supervisor: Supervisor): void {
    this.#supervisor = supervisor;
    for (const reflector of this.reflectors) run(reflector, supervisor);
  }

  /** Lists all kinds again, whatever their watches show. */
  restart(): void {
    for (const reflector of this.reflectors) reflector.restart();
  }

  /** What waits after a failure waits no longer: the server answers again. */
  hurry(): void {
    for (const reflector of this.reflectors) reflector.hurry();
  }

  #reflect(kind: KindInfo): Reflector {
    const { api, clock, random, log, historyOf, onOtherHistory, onError, transforms, scopes } = this.#options;
    const transform = transforms?.[kind.plural];
    return new Reflector({
      ...scopes?.[kind.plural],
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

function run(reflector: Reflector, supervisor: Supervisor): void {
  supervisor.start(`watch ${reflector.kind.kind}`, (signal) => reflector.run(signal));
}
