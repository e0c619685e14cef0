import { canonicalJson } from '../../model/json-equal.ts';
import { MANIFEST_WORK, MANIFEST_WORK_REPLICA_SET, SECRET } from '../../model/kinds.ts';
import type { KubeObject } from '../../model/object-meta.ts';
import { formatRef, refOf } from '../../model/object-ref.ts';
import type { Digest } from '../../publish/approval/plan-token.ts';

/** On a manifest whose content is left out: the SHA-256 of the whole manifest. */
const DIGEST_FIELD = '$digest';

type Fields = Readonly<Record<string, unknown>>;

/** Where a work or a replica set has its manifests, as a change of them; undefined for other kinds. */
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

/** A work or replica set with the names of its manifests only, and a digest by which a plan finds the content in Git; none of Secrets. */
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

/** Puts content that was left out back where the commits have it. */
export class WorkContent {
  readonly #digest: Digest;
  readonly #declared: () => Iterable<KubeObject>;
  #byDigest: Map<string, KubeObject> | undefined;
  readonly #unknown = new Set<string>();

  /** @param declared what the commits say */
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

  /** What the plan says of content that it does not know. */
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
