import { type KindInfo, typeKeyOf } from '@berth/kube/model/kinds';
import type { SourceObject } from '@berth/kube/model/source-object';

/** The objects of a fleet by kind. Their shapes were checked when they were read. */
export class ObjectsByKind {
  readonly all: readonly SourceObject[];
  readonly #byType = new Map<string, SourceObject[]>();

  constructor(objects: readonly SourceObject[]) {
    this.all = objects;
    for (const source of objects) {
      const type = `${source.object.apiVersion} ${source.object.kind}`;
      const known = this.#byType.get(type);
      if (known === undefined) this.#byType.set(type, [source]);
      else known.push(source);
    }
  }

  /** Objects of one kind and version, typed as that kind; the caller names the type that belongs to the kind. */
  ofKind<T extends { readonly metadata: unknown }>(kind: KindInfo): readonly SourceObject<T>[] {
    const found: readonly SourceObject[] = this.#byType.get(typeKeyOf(kind)) ?? [];
    return found as unknown as readonly SourceObject<T>[];
  }
}
