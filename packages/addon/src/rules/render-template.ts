import type { KubeObject } from '@berth/kube/model/object-meta';
import {
  ADDON_GROUP,
  type AddOnDeploymentConfig,
  type AddOnTemplate,
  type ConfigSpecHash,
  DEFAULT_INSTALL_NAMESPACE,
  type ManagedClusterAddOn,
  type ManagedClusterAddOnStatus,
} from '@berth/ocm/kind/addon';
import { isObject, type JsonObject, type JsonValue, setOwn } from '@berth/runtime/json/json-value';
import { done, eachDone, failed, type Outcome } from '@berth/runtime/outcome';
import { mirrorsOf, proxyCaConfigMap, workloadDecorator } from './decorate-workload.ts';
import { addonNames } from '@berth/ocm/registration/addon-names';

export interface TemplateInput {
  readonly addonName: string;
  readonly cluster: {
    readonly name: string;
    readonly annotations?: Readonly<Record<string, string>> | undefined;
  };
  readonly addon: ManagedClusterAddOn;
  /** Undefined: there is none of this name. */
  readonly template: (name: string) => AddOnTemplate | undefined;
  readonly deploymentConfig: (namespace: string, name: string) => AddOnDeploymentConfig | undefined;
}

/** A variable of a template, and who gives its value. */
export interface TemplateValue {
  readonly name: string;
  readonly value: string;
  /** e.g. `AddOnDeploymentConfig team-a/small`, or `Berth` for the variables of every template */
  readonly from: string;
}

export interface RenderedTemplate {
  readonly template: AddOnTemplate;
  readonly manifests: readonly KubeObject[];
  readonly values: readonly TemplateValue[];
  /** What else a configuration, or the cluster, gives: namespace, nodes, mirrors, proxy, resources. */
  readonly settings: () => readonly TemplateValue[];
  /** Variables that the template uses and nobody gives: they become empty. */
  readonly missing: () => readonly string[];
  /** Where the agent of the add-on runs. */
  readonly installNamespace: string;
}

/** The parts of a template that are rendered for one cluster, before anything is replaced. */
interface Parts {
  readonly template: AddOnTemplate;
  readonly config: AddOnDeploymentConfig | undefined;
}

/**
 * What a cluster gets of an add-on that an AddOnTemplate describes: variables are replaced, then Deployments and DaemonSets get
 * environment, volumes, nodes, images, proxy and resources, then everything moves to the install namespace. As OCM 1.2
 * (pkg/addon/templateagent), but a value with a quote is written as it is, where OCM makes invalid JSON of it.
 */
export function renderAddOnTemplate(input: TemplateInput): Outcome<RenderedTemplate> {
  const parts = partsOf(input);
  if (!parts.ok) return parts;
  const { template, config } = parts.value;
  const values = templateValues(input, parts.value);
  const known = new Map(values.map(({ name, value }) => [name, value]));
  const namespace = config?.spec?.agentInstallNamespace ?? '';
  const decorate = workloadDecorator({
    names: addonNames(input.addonName, input.cluster.name),
    registrations: template.spec.registration ?? [],
    env: PRESET.flatMap((name) => {
      const value = name === HUB_KUBECONFIG && !reachesHub(template) ? undefined : known.get(name);
      return value === undefined ? [] : [{ name, value }];
    }),
    config: config?.spec ?? {},
    imageRegistries: input.cluster.annotations?.[IMAGE_REGISTRIES],
    addonName: input.addonName,
  });
  const manifests = eachDone(template.spec.agentSpec.workload?.manifests ?? [], (manifest) => {
    const object = decorate(replaceIn(manifest as unknown as JsonObject, known) as unknown as KubeObject);
    return namespace === '' ? done(object) : inNamespace(object, namespace);
  });
  if (!manifests.ok) return manifests;
  const ca = proxyCaConfigMap(input.addonName, namespace, config?.spec?.proxyConfig?.caBundle);
  const all = ca === undefined ? manifests.value : [...manifests.value, ca];
  return done({
    ...{ template, manifests: all, values, installNamespace: installNamespaceOf(parts.value) },
    settings: () => settingsOf(input, parts.value),
    missing: () => [...usedNames(template)].filter((name) => !known.has(name)),
  });
}

/** As a hub has it: it adds the default of the API to a configuration that names no namespace. */
export function storedConfig(config: AddOnDeploymentConfig): AddOnDeploymentConfig {
  const { spec } = config;
  return spec === undefined
    ? config
    : { ...config, spec: { agentInstallNamespace: DEFAULT_INSTALL_NAMESPACE, ...spec } };
}

/** Where the agent of a template's add-on runs: the registration needs it before anything is rendered. */
export function templateInstallNamespace(input: TemplateInput): Outcome<string> {
  const template = templateOf(input, `addon ${input.addonName}`);
  if (!template.ok) return template;
  const config = configOf(input);
  if (!config.ok)
    return failed(`failed to get deployment config for addon ${input.addonName}: ${config.error}`);
  return done(installNamespaceOf({ template: template.value, config: config.value }));
}

const IMAGE_REGISTRIES = 'open-cluster-management.io/image-registries';
const HUB_KUBECONFIG = 'HUB_KUBECONFIG';
/** The variables that containers get as environment, in this order. */
const PRESET = [HUB_KUBECONFIG, 'CLUSTER_NAME', 'INSTALL_NAMESPACE'] as const;

function partsOf(input: TemplateInput): Outcome<Parts> {
  const template = templateOf(input, `addon ${input.cluster.name}/${input.addonName}`);
  if (!template.ok) return template;
  const config = configOf(input);
  return config.ok ? done({ template: template.value, config: config.value }) : config;
}

function templateOf(input: TemplateInput, subject: string): Outcome<AddOnTemplate> {
  const desired = desiredConfig(input.addon, 'addontemplates');
  if (desired === undefined) return failed(`${subject} template not found in status`);
  if (desired.specHash === '') return failed(`addon ${input.addonName} template desired spec hash is empty`);
  const template = input.template(desired.name);
  return template === undefined
    ? failed(`addontemplates.${ADDON_GROUP} "${desired.name}" not found`)
    : done(template);
}

function configOf(input: TemplateInput): Outcome<AddOnDeploymentConfig | undefined> {
  const desired = desiredConfig(input.addon, 'addondeploymentconfigs');
  if (desired === undefined) return done(undefined);
  if (desired.specHash === '')
    return failed(`addon ${input.addonName} deployment config desired spec hash is empty`);
  const config = input.deploymentConfig(desired.namespace ?? '', desired.name);
  return config === undefined
    ? failed(`addondeploymentconfigs.${ADDON_GROUP} "${desired.name}" not found`)
    : done(config);
}

/** The configuration of a kind of the add-on API that the add-on of a cluster shall use. */
export function desiredConfig(
  addon: { readonly status?: Pick<ManagedClusterAddOnStatus, 'configReferences'> | undefined },
  resource: string,
): ConfigSpecHash | undefined {
  const found = addon.status?.configReferences?.find(
    (reference) => reference.group === ADDON_GROUP && reference.resource === resource,
  );
  return found?.desiredConfig ?? undefined;
}

/** Of two values with one name the later one counts. */
function templateValues(input: TemplateInput, parts: Parts): readonly TemplateValue[] {
  const { template, config } = parts;
  const values = new Map<string, TemplateValue>();
  const add = (name: string, value: string, from: string): unknown => values.set(name, { name, value, from });
  if (reachesHub(template)) add(HUB_KUBECONFIG, '/managed/hub-kubeconfig/kubeconfig', BUILT_IN);
  const origin = configTitle(config);
  for (const { name, value } of config?.spec?.customizedVariables ?? []) add(name, value ?? '', origin);
  add('CLUSTER_NAME', input.cluster.name, BUILT_IN);
  const namespace = config?.spec?.agentInstallNamespace ?? '';
  if (namespace !== '') add('INSTALL_NAMESPACE', namespace, origin);
  return [...values.values()];
}

const BUILT_IN = 'Berth';

function settingsOf(input: TemplateInput, parts: Parts): readonly TemplateValue[] {
  const { template, config } = parts;
  const { agentInstallNamespace = '', nodePlacement, registries = [], ...spec } = config?.spec ?? {};
  const given = configTitle(config);
  const text = (value: unknown): string => (typeof value === 'string' ? value : JSON.stringify(value));
  const rows = (all: Readonly<Record<string, unknown>>, from = given): readonly TemplateValue[] =>
    Object.entries(all).flatMap(([name, value]) =>
      value === undefined || value === '' ? [] : [{ name, value: text(value), from }],
    );
  const imageRegistries = input.cluster.annotations?.[IMAGE_REGISTRIES];
  const mirrors = mirrorsOf({ config: config?.spec ?? {}, imageRegistries });
  const place = agentInstallNamespace === '' ? `AddOnTemplate ${template.metadata.name}` : given;
  const { httpProxy, httpsProxy, noProxy, caBundle } = spec.proxyConfig ?? {};
  return [
    ...rows({ namespace: installNamespaceOf(parts) }, place),
    ...rows({ nodeSelector: nodePlacement?.nodeSelector, tolerations: nodePlacement?.tolerations }),
    ...mirrors.flatMap(({ source = '', mirror }) =>
      rows(
        { [`mirror of ${source === '' ? 'every image' : source}`]: mirror },
        registries.length > 0 ? given : `ManagedCluster ${input.cluster.name}`,
      ),
    ),
    ...rows({ httpProxy, httpsProxy, noProxy, 'CA of the proxy': caBundle && 'given' }),
    ...(spec.resourceRequirements ?? []).flatMap(({ containerID, resources }) =>
      rows({ [`resources of ${containerID}`]: resources }),
    ),
  ];
}

/** The names in braces, of strings and of keys. */
function usedNames({ spec }: AddOnTemplate): ReadonlySet<string> {
  const text = JSON.stringify(spec.agentSpec.workload?.manifests ?? []);
  return new Set([...text.matchAll(/\{\{(.*?)\}\}/g)].map(([, name = '']) => name));
}

function configTitle(config: AddOnDeploymentConfig | undefined): string {
  return `AddOnDeploymentConfig ${config?.metadata.namespace ?? ''}/${config?.metadata.name ?? ''}`;
}

/** Whether the agent has an access to the hub. As upstream an empty list of registrations counts. */
function reachesHub({ spec }: AddOnTemplate): boolean {
  return spec.registration !== undefined;
}

function replaceIn(value: JsonValue, known: ReadonlyMap<string, string>): JsonValue {
  if (typeof value === 'string')
    return value.replace(/\{\{(.*?)\}\}/gs, (_, name: string) => known.get(name) ?? '');
  if (Array.isArray(value)) return value.map((item: JsonValue) => replaceIn(item, known));
  if (!isObject(value)) return value;
  const replaced: JsonObject = {};
  for (const [key, item] of Object.entries(value))
    setOwn(replaced, replaceIn(key, known) as string, replaceIn(item, known));
  return replaced;
}

const BINDINGS: ReadonlySet<string> = new Set(['RoleBinding', 'ClusterRoleBinding']);

/** OCM overwrites the namespace of every subject of a binding, and refuses a binding without subjects. */
function inNamespace(object: KubeObject, namespace: string): Outcome<KubeObject> {
  if (object.kind === 'Namespace')
    return done({ ...object, metadata: { ...object.metadata, name: namespace } });
  const hasNamespace = object.metadata.namespace !== undefined;
  const moved = hasNamespace ? { ...object, metadata: { ...object.metadata, namespace } } : object;
  if (!BINDINGS.has(object.kind)) return done(moved);
  const subjects = object['subjects'] as readonly object[] | undefined;
  if (subjects === undefined) return failed('failed to find field subjects');
  return done({ ...moved, subjects: subjects.map((subject) => ({ ...subject, namespace })) });
}

function installNamespaceOf({ template, config }: Parts): string {
  const own = config?.spec?.agentInstallNamespace ?? '';
  if (own !== '') return own;
  const manifests = template.spec.agentSpec.workload?.manifests ?? [];
  const first = (kind: string): string | undefined =>
    manifests.find((manifest) => manifest.kind === kind)?.metadata.namespace;
  return first('Deployment') ?? first('DaemonSet') ?? DEFAULT_INSTALL_NAMESPACE;
}
