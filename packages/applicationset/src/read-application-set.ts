import { NotRendered } from './failure/failures.ts';
import type { JsonValue } from './json/json-value.ts';
import type { TemplateMode } from './params/replace-text.ts';
import { decodeTyped } from './typed/decode-typed.ts';
import { APPLICATION_SET } from './types/generator-types.ts';
import type { TypedObject } from './types/go-type.ts';

export interface ApplicationSet {
  readonly name: string;
  readonly namespace: string;
  readonly mode: TemplateMode;
  readonly generators: readonly TypedObject[];
  readonly template: TypedObject;
  readonly templatePatch: string | undefined;
  /** `syncPolicy.preserveResourcesOnDeletion`. */
  readonly preserveResources: boolean;
  /** `syncPolicy.applicationsSync`: what the controller may do to Applications. */
  readonly applicationsSync: string;
}

const REFUSED_GENERATORS: Readonly<Record<string, string>> = {
  git: 'reads a Git repository through the repo server of Argo CD',
  // Since Argo CD 3.6.
  oci: 'reads an OCI registry through the repo server of Argo CD',
  scmProvider: 'asks a forge for its repositories',
  pullRequest: 'asks a forge for its pull requests',
};

/**
 * @throws NotRendered if the object is not an ApplicationSet, lacks a part that its definition
 * requires, or has a generator that Berth does not render
 */
export function readApplicationSet(object: JsonValue): ApplicationSet {
  const json = asObject(object);
  if (json === undefined || asObject(json['spec']) === undefined)
    throw new NotRendered('the object has no spec: expected an ApplicationSet');
  const spec = asObject(json['spec']) ?? {};
  refuseGenerators(spec['generators'], 'spec.generators');
  const { value, error } = decodeTyped(APPLICATION_SET, json);
  if (error !== undefined) throw new NotRendered(`the ApplicationSet does not fit its schema: ${error}`);
  const metadata = (value['metadata'] ?? {}) as TypedObject;
  const typed = (value['spec'] ?? {}) as TypedObject;
  const template = (typed['template'] ?? {}) as TypedObject;
  for (const part of ['metadata', 'spec'])
    if (template[part] === undefined)
      throw new NotRendered(`spec.template.${part} is missing, which every ApplicationSet has to have`);
  const syncPolicy = (typed['syncPolicy'] ?? {}) as TypedObject;
  return {
    name: (metadata['name'] ?? '') as string,
    namespace: (metadata['namespace'] ?? '') as string,
    mode: {
      goTemplate: typed['goTemplate'] === true,
      options: (typed['goTemplateOptions'] ?? []) as readonly string[],
    },
    generators: (typed['generators'] ?? []) as readonly TypedObject[],
    template,
    templatePatch: typed['templatePatch'] as string | undefined,
    preserveResources: syncPolicy['preserveResourcesOnDeletion'] === true,
    applicationsSync: (syncPolicy['applicationsSync'] ?? 'sync') as string,
  };
}

/** Refuses generators that Berth does not render, also inside matrix and merge generators. */
function refuseGenerators(generators: JsonValue | undefined, path: string): void {
  if (!Array.isArray(generators)) return;
  generators.forEach((generator: JsonValue, index) => {
    const fields = asObject(generator) ?? {};
    const at = `${path}[${String(index)}]`;
    for (const [kind, why] of Object.entries(REFUSED_GENERATORS))
      if (asObject(fields[kind]) !== undefined)
        throw new NotRendered(
          `${at}.${kind} is not rendered, because it ${why}: ask Argo CD itself (argocd appset generate)`,
        );
    for (const kind of ['matrix', 'merge'])
      refuseGenerators(asObject(fields[kind])?.['generators'], `${at}.${kind}.generators`);
  });
}

function asObject(value: JsonValue | undefined): { readonly [key: string]: JsonValue } | undefined {
  return typeof value === 'object' && value !== null && !Array.isArray(value)
    ? (value as { readonly [key: string]: JsonValue })
    : undefined;
}
