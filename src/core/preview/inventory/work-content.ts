import { canonicalJson } from '@berth/runtime/json/json-equal';
import { MANIFEST_WORK, MANIFEST_WORK_REPLICA_SET, SECRET } from '@berth/kube/model/kinds';
import type { KubeObject } from '@berth/kube/model/object-meta';
import { formatRef, refOf } from '@berth/kube/model/object-ref';
import type { Digest } from '../../publish/approval/approval-code.ts';

/** On a manifest whose content is omitted: the SHA-256 of the whole manifest. */
const DIGEST_FIELD = '$digest';

type Fields = Readonly<Record<string, unknown>>;

/** Changes the manifests of a work or a replica set; undefined for other kinds. */
function withManifests(
  object: KubeObject,
  change: (manifests: readonly KubeObject[]) => readonly Fields[],
): KubeObject | undefined {
  const spec = (object['spec'] ?? {}) as Fields;
  const inTemplate = ({ workload, ...template }: Fields): Fields => {
    const { manifests = [], ...rest } = (workload ?? {}) as { readonly manifests?: readonly KubeObject[] };
    return { ...template, workload: { ...rest, manifests: change(manifests) } };
  };
  if (object.kind === MANIFEST_WORK.kind) return { ...object, spec: inTemplate(spec) };
  if (object.kind !== MANIFEST_WORK_REPLICA_SET.kind) return undefined;
  const template = (spec['manifestWorkTemplate'] ?? {}) as Fields;
  return { ...object, spec: { ...spec, manifestWorkTemplate: inTemplate(template) } };
}

/**
 * A work or replica set with only the names of its manifests and, except for Secrets, a digest. A plan finds the
 * content in Git by the digest.
 */
export function withoutContent(object: KubeObject, digest: Digest): KubeObject {
  const redacted = withManifests(object, (manifests) =>
    manifests.map((manifest) => {
      const { apiVersion, kind, metadata } = manifest;
      const { name, namespace } = metadata ?? {};
      return {
        ...{ apiVersion, kind },
        metadata: { ...(name !== undefined && { name }), ...(namespace !== undefined && { namespace }) },
        ...(kind !== SECRET.kind && { [DIGEST_FIELD]: digest(canonicalJson(manifest)) }),
      };
    }),
  );
  return redacted ?? object;
}

/** Restores omitted content that the commits contain. */
export class WorkContent {
  readonly #digest: Digest;
  readonly #declared: () => Iterable<KubeObject>;
  #byDigest: Map<string, KubeObject> | undefined;
  readonly #unknown = new Set<string>();

  /** @param declared the content of the commits */
  constructor(digest: Digest, declared: () => Iterable<KubeObject>) {
    this.#digest = digest;
    this.#declared = declared;
  }

  restore(object: KubeObject): KubeObject {
    const restored = withManifests(object, (manifests) =>
      manifests.map((manifest) => {
        const { [DIGEST_FIELD]: digest, ...stub } = manifest;
        if (typeof digest !== 'string') return manifest;
        const found = this.#found(digest);
        if (found === undefined) this.#unknown.add(formatRef(refOf(object)));
        return found ?? stub;
      }),
    );
    return restored ?? object;
  }

  /** The note of the plan about unknown content. */
  notes(): readonly string[] {
    const names = [...this.#unknown].sort();
    return names.length === 0
      ? []
      : [
          `The content of ${names.join(', ')} is on the hub alone, and not in its inventory: it counts as empty.`,
        ];
  }

  #found(digest: string): KubeObject | undefined {
    if (this.#byDigest === undefined) {
      const manifests: KubeObject[] = [];
      for (const object of this.#declared())
        withManifests(object, (found) => {
          manifests.push(...found);
          return found;
        });
      this.#byDigest = new Map(
        manifests.map((manifest) => [this.#digest(canonicalJson(manifest)), manifest]),
      );
    }
    return this.#byDigest.get(digest);
  }
}
