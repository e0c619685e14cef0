import type { KubeObject } from '@berth/kube/model/object-meta';
import { kubectlSchema } from '@berth/kube/yaml/kubectl-schema';
import {
  DEFAULT_INSTALL_NAMESPACE,
  type AddOnDeploymentConfig,
  type ManagedClusterAddOn,
} from '@berth/ocm/kind/addon';
import type { ManagedCluster } from '@berth/ocm/kind/managed-cluster';
import { errorText, InputError } from '@berth/runtime/errors';
import { loadAll } from 'js-yaml';
import type { BuiltInFacts, Values } from '../rules/values.ts';

/** What a folder of templates, or a chart, is rendered for: one add-on of one cluster. */
export interface SourceContext {
  readonly cluster: Pick<ManagedCluster, 'metadata'> & {
    readonly status?:
      | { readonly version?: { readonly kubernetes?: string | undefined } | undefined }
      | undefined;
  };
  readonly addon: ManagedClusterAddOn;
  /** Where the agent runs. Default: the namespace of all add-ons that name none. */
  readonly installNamespace?: string | undefined;
  /** The AddOnDeploymentConfig that the add-on uses, if it uses one. */
  readonly deploymentConfig?: AddOnDeploymentConfig | undefined;
  /** Ends the rendering. */
  readonly signal: AbortSignal;
}

/** Makes the manifests of an add-on for one cluster: what `manifests` of an add-on is. */
export type ManifestSource = (context: SourceContext) => Promise<readonly KubeObject[]>;

/** More values for a source; those of the AddOnDeploymentConfig, and of the add-on's annotation, win over them. */
export type GivenValues = Values | ((context: SourceContext) => Values | Promise<Values>);

export async function resolveValues(given: GivenValues | undefined, context: SourceContext): Promise<Values> {
  return typeof given === 'function' ? given(context) : (given ?? {});
}

export function factsOf({ addon, cluster, installNamespace }: SourceContext): BuiltInFacts {
  return {
    addon,
    clusterName: cluster.metadata.name,
    installNamespace: installNamespace || addon.status?.namespace || DEFAULT_INSTALL_NAMESPACE,
  };
}

const SCHEMA = kubectlSchema();

/**
 * The objects of a rendered text, with those in lists. Documents without content are skipped.
 * @param subject what was rendered, for errors
 * @throws InputError for a text that is not YAML of objects
 */
export function parseManifests(text: string, subject: string): readonly KubeObject[] {
  const details = { code: 'addon.manifest', subject };
  let documents: unknown[];
  try {
    documents = loadAll(text, null, { schema: SCHEMA });
  } catch (cause) {
    throw new InputError(`is rendered to something that is not YAML: ${errorText(cause)}`, {
      ...details,
      cause,
    });
  }
  return documents.flatMap((document): readonly KubeObject[] => {
    if (document === null || document === undefined) return [];
    const object = document as Partial<KubeObject>;
    if (
      typeof object !== 'object' ||
      typeof object.apiVersion !== 'string' ||
      typeof object.kind !== 'string'
    )
      throw new InputError('is rendered to something without apiVersion and kind', details);
    if (object.kind === 'List' && Array.isArray(object['items'])) return object['items'] as KubeObject[];
    if (typeof object.metadata?.name !== 'string')
      throw new InputError(`is rendered to a ${object.kind} without a name`, details);
    return [object as KubeObject];
  });
}
