import type { KindInfo } from '../../../core/model/kinds.ts';
import { apiVersionOf } from '../../../core/model/kinds.ts';
import type { ListOptions } from '../../../core/ports.ts';
import type { KubeObject } from '../../../core/model/object-meta.ts';
import type { Supervisor } from '../../../runtime/supervisor.ts';
import { KeyIndex } from './key-index.ts';
import { Reflector, type ReflectorOptions } from './reflector.ts';

/**
 * How to find objects of a kind by something other than their name. Declare it once, as a constant, because its
 * identity names the index.
 */
export interface IndexDefinition {
  readonly kind: KindInfo;
  /** The keys of an object: none, one or several. */
  readonly keysOf: (object: KubeObject) => string | readonly string[] | undefined;
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
  #supervisor: Supervisor | undefined;

  constructor(options: ObjectCacheOptions) {
    this.#options = options;
  }

  /** The reflectors of all kinds that were requested. */
  get reflectors(): readonly Reflector[] {
    return [...this.#reflectors.values()];
  }

  /** The only reflector of the kind. The first call makes the cache follow the kind. */
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

  /** Lists and watches all kinds, including those that are requested later. Call it once. */
  start(supervisor: Supervisor): void {
    this.#supervisor = supervisor;
    for (const reflector of this.reflectors) run(reflector, supervisor);
  }

  /** Lists all kinds again, whatever their watches show. */
  restart(): void {
    for (const reflector of this.reflectors) reflector.restart();
  }

  /** Ends the pauses after failures, because the server answers again. */
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
