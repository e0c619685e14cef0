import {
  type AddOnDeploymentConfigSpec,
  HOSTING_CLUSTER_ANNOTATION,
  type ManagedClusterAddOn,
} from '@berth/ocm/kind/addon';
import { errorText, InputError } from '@berth/runtime/errors';
import { addonNames } from '@berth/ocm/registration/addon-names';
import { type MirrorSource, mirroredImage, mirrorsOf } from './decorate-workload.ts';

/** Values of a chart, or of Go templates: JSON, by name. */
export type Values = Readonly<Record<string, unknown>>;

/** On a ManagedClusterAddOn: values, as JSON. */
const VALUES_ANNOTATION = 'addon.open-cluster-management.io/values';

/** Later layers win. Maps are merged, at every depth; lists are replaced. Source: addon-framework `pkg/addonfactory` (MergeValues). */
export function mergeValues(...layers: readonly Values[]): Values {
  const merged = new Map<string, unknown>();
  for (const layer of layers)
    for (const [name, value] of Object.entries(layer)) {
      const known = merged.get(name);
      merged.set(name, isMap(known) && isMap(value) ? mergeValues(known, value) : value);
    }
  return Object.fromEntries(merged);
}

function isMap(value: unknown): value is Values {
  return typeof value === 'object' && value !== null && !Array.isArray(value);
}

/**
 * The values that an add-on says itself.
 * @throws InputError when they are not JSON of a map
 */
export function annotatedValues({ metadata }: Pick<ManagedClusterAddOn, 'metadata'>): Values {
  const text = metadata.annotations?.[VALUES_ANNOTATION] ?? '';
  if (text === '') return {};
  const details = { code: 'addon.values', subject: `annotation ${VALUES_ANNOTATION}` };
  try {
    const values: unknown = JSON.parse(text);
    if (isMap(values)) return values;
  } catch (cause) {
    throw new InputError(`is not JSON: ${errorText(cause)}`, { ...details, cause });
  }
  throw new InputError('got JSON that is not a map, expected values by name', details);
}

/** What both kinds of source know of an add-on of a cluster. */
export interface BuiltInFacts {
  readonly addon: ManagedClusterAddOn;
  readonly clusterName: string;
  readonly installNamespace: string;
}

/** `defaults` can be overridden, `fixed` cannot. */
export interface BuiltInValues {
  readonly defaults: Values;
  readonly fixed: Values;
}

/** Names as in addon-framework `pkg/addonfactory/template_agentaddon.go`. */
export function templateBuiltIns(facts: BuiltInFacts): BuiltInValues {
  const { hubSecret, managedSecret, mode } = builtIns(facts);
  return {
    defaults: { HubKubeConfigSecret: hubSecret, ManagedKubeConfigSecret: managedSecret },
    fixed: {
      ClusterName: facts.clusterName,
      AddonInstallNamespace: facts.installNamespace,
      InstallMode: mode,
    },
  };
}

/** Names as in addon-framework `pkg/addonfactory/helm_agentaddon.go`. */
export function chartBuiltIns(facts: BuiltInFacts): BuiltInValues {
  const { hubSecret, managedSecret, mode } = builtIns(facts);
  return {
    defaults: { hubKubeConfigSecret: hubSecret, managedKubeConfigSecret: managedSecret },
    fixed: {
      clusterName: facts.clusterName,
      addonInstallNamespace: facts.installNamespace,
      installMode: mode,
    },
  };
}

function builtIns({ addon, clusterName }: BuiltInFacts) {
  const { name, annotations } = addon.metadata;
  return {
    hubSecret: addonNames(name, clusterName).hubKubeconfigSecret,
    managedSecret: `${name}-managed-kubeconfig`,
    mode: annotations?.[HOSTING_CLUSTER_ANNOTATION] ? 'Hosted' : 'Default',
  };
}

/** The values of an AddOnDeploymentConfig for Go templates: its variables, and what is set of the rest. */
export function templateConfigValues(config: AddOnDeploymentConfigSpec): Values {
  const { nodePlacement, proxyConfig } = config;
  return {
    ...variablesOf(config),
    ...(nodePlacement && {
      NodeSelector: nodePlacement.nodeSelector ?? {},
      Tolerations: nodePlacement.tolerations ?? [],
    }),
    ...(proxyConfig && {
      HTTPProxy: proxyConfig.httpProxy ?? '',
      HTTPSProxy: proxyConfig.httpsProxy ?? '',
      NoProxy: proxyConfig.noProxy ?? '',
      ProxyCABundle: proxyConfig.caBundle ?? '',
    }),
    ...(config.resourceRequirements && {
      ResourceRequirements: config.resourceRequirements.map(({ containerID, resources }) => ({
        ContainerIDRegex: regexOf(containerID),
        Resources: resources,
      })),
    }),
  };
}

/** The values of an AddOnDeploymentConfig for a chart, below `global` where charts look for them. */
export function chartConfigValues(config: AddOnDeploymentConfigSpec): Values {
  const { nodePlacement, proxyConfig, resourceRequirements } = config;
  const global = {
    ...(nodePlacement && { nodeSelector: nodePlacement.nodeSelector ?? {} }),
    ...(proxyConfig && {
      proxyConfig: {
        HTTP_PROXY: proxyConfig.httpProxy ?? '',
        HTTPS_PROXY: proxyConfig.httpsProxy ?? '',
        NO_PROXY: proxyConfig.noProxy ?? '',
        PROXY_CA_BUNDLE: proxyConfig.caBundle ?? '',
      },
    }),
    ...(resourceRequirements && {
      resourceRequirements: resourceRequirements.map(({ containerID, resources }) => ({
        containerIDRegex: regexOf(containerID),
        resources,
      })),
    }),
  };
  return {
    ...variablesOf(config),
    ...(nodePlacement && { tolerations: nodePlacement.tolerations ?? [] }),
    ...(Object.keys(global).length > 0 && { global }),
  };
}

function variablesOf({ customizedVariables = [] }: AddOnDeploymentConfigSpec): Values {
  return Object.fromEntries(customizedVariables.map(({ name, value = '' }) => [name, value]));
}

function regexOf(containerId: string): string {
  return `^${containerId.replaceAll('*', '.+')}$`;
}

/**
 * An image at its mirror, as a value: `global.imageOverrides.agent` is a value in a map in a map.
 * Source: addon-framework `pkg/addonfactory/addondeploymentconfig.go`.
 */
export function imageValue(path: string, image: string, mirrors: MirrorSource): Values {
  const names = path.split('.');
  return names.reduceRight<unknown>(
    (inner, name) => ({ [name]: inner }),
    mirroredImage(image, mirrorsOf(mirrors)),
  ) as Values;
}

/**
 * The values as JSON has them: without fields that are undefined.
 * @throws InputError for a value that is not JSON, with the text of addon-framework
 */
export function jsonValues(values: Values): Values {
  return Object.fromEntries(
    Object.entries(values).flatMap(([name, value]) =>
      value === undefined ? [] : [[name, jsonValue(value, name)]],
    ),
  );
}

function jsonValue(value: unknown, path: string): unknown {
  if (value === null || typeof value === 'string' || typeof value === 'boolean') return value;
  if (typeof value === 'number' && Number.isFinite(value)) return value;
  if (Array.isArray(value)) return value.map((item, at) => jsonValue(item, `${path}[${at}]`));
  const isPlain =
    isMap(value) && [Object.prototype, null].includes(Object.getPrototypeOf(value) as object | null);
  if (!isPlain)
    throw new InputError(`failed to normalize Helm values: ${path} is no JSON, got ${typeof value}`, {
      code: 'addon.values',
      subject: 'values',
    });
  return Object.fromEntries(
    Object.entries(value).flatMap(([name, item]) =>
      item === undefined ? [] : [[name, jsonValue(item, `${path}.${name}`)]],
    ),
  );
}
