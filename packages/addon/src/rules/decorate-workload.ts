import type { KubeObject } from '@berth/kube/model/object-meta';
import {
  type AddOnDeploymentConfigSpec,
  type ContainerResources,
  DEFAULT_INSTALL_NAMESPACE,
  type ImageMirror,
  type TemplateRegistration,
} from '@berth/ocm/kind/addon';
import type { AddonNames } from '@berth/ocm/registration/addon-names';

export interface Decoration {
  readonly addonName: string;
  readonly names: AddonNames;
  readonly registrations: readonly TemplateRegistration[];
  readonly env: readonly EnvVariable[];
  readonly config: AddOnDeploymentConfigSpec;
  /** The cluster's annotation with mirrors, as JSON. It counts only when the configuration has none. */
  readonly imageRegistries: string | undefined;
}

export interface EnvVariable {
  readonly name: string;
  readonly value: string;
}

interface Container {
  readonly name: string;
  readonly image?: string;
  readonly env?: readonly unknown[];
  readonly volumeMounts?: readonly unknown[];
  readonly resources?: unknown;
}

interface PodSpec {
  readonly containers?: readonly Container[];
  readonly volumes?: readonly unknown[];
  readonly [field: string]: unknown;
}

/** A volume, and where every container finds it. */
interface Mounted {
  readonly volume: { readonly name: string; readonly [source: string]: unknown };
  readonly mountPath: string;
}

const WORKLOADS: Readonly<Record<string, string>> = { Deployment: 'deployments', DaemonSet: 'daemonsets' };

/**
 * Gives Deployments and DaemonSets of a template what they need on a cluster: environment, volumes with credentials, nodes, images,
 * proxy and resources. As OCM 1.2 (pkg/addon/templateagent/decorator.go): init containers stay as they are, what is added goes behind
 * what is there, and tolerations count only beside a node selector.
 * @returns a function that leaves other kinds as they are
 */
export function workloadDecorator(decoration: Decoration): (object: KubeObject) => KubeObject {
  const { config } = decoration;
  const proxy = proxyEnv(config);
  const mounted = [
    ...credentialVolumes(decoration),
    ...(proxy.length > 0 && config.proxyConfig?.caBundle ? [proxyCaVolume(decoration.addonName)] : []),
  ];
  const env = [...decoration.env, ...proxy];
  if (proxy.length > 0 && config.proxyConfig?.caBundle)
    env.push({ name: 'CA_BUNDLE_FILE_PATH', value: `${PROXY_CA_PATH}/${PROXY_CA_KEY}` });
  const mirrors = mirrorsOf(decoration);
  return (object) => {
    const resource = object.apiVersion.startsWith('apps/') ? WORKLOADS[object.kind] : undefined;
    if (resource === undefined) return object;
    return withPodSpec(object, (pod) => ({
      ...pod,
      ...nodePlacement(config),
      volumes: [...(pod.volumes ?? []), ...mounted.map(({ volume }) => volume)],
      containers: (pod.containers ?? []).map((container) => ({
        ...container,
        ...(container.image === undefined ? {} : { image: mirroredImage(container.image, mirrors) }),
        env: [...(container.env ?? []), ...env],
        volumeMounts: [
          ...(container.volumeMounts ?? []),
          ...mounted.map(({ volume: { name }, mountPath }) => ({ name, mountPath })),
        ],
        ...resourcesFor(config.resourceRequirements ?? [], [resource, object.metadata.name, container.name]),
      })),
    }));
  };
}

function withPodSpec(object: KubeObject, change: (pod: PodSpec) => PodSpec): KubeObject {
  const spec = object['spec'] as { readonly template?: { readonly spec?: PodSpec } } | undefined;
  const template = spec?.template;
  return { ...object, spec: { ...spec, template: { ...template, spec: change(template?.spec ?? {}) } } };
}

function credentialVolumes({ names, registrations }: Decoration): readonly Mounted[] {
  return registrations.map(({ type, customSigner }): Mounted => {
    if (type === 'KubeClient' || customSigner === undefined)
      return secretVolume('hub-kubeconfig', '/managed/hub-kubeconfig', names.hubKubeconfigSecret);
    const { signerName } = customSigner;
    const name = `cert-${signerName.replaceAll(/[/.]/g, '-')}`;
    const mountPath = `/managed/${signerName.replaceAll('/', '-')}`;
    return secretVolume(name, mountPath, names.customSignedSecret(signerName));
  });
}

function secretVolume(name: string, mountPath: string, secretName: string): Mounted {
  return { volume: { name, secret: { secretName } }, mountPath };
}

const PROXY_CA_PATH = '/managed/proxy-ca';
const PROXY_CA_KEY = 'ca-bundle.crt';

function proxyCaVolume(addonName: string): Mounted {
  const configMap = { name: proxyCaName(addonName) };
  return { volume: { name: 'proxy-ca-bundle', configMap }, mountPath: PROXY_CA_PATH };
}

function proxyCaName(addonName: string): string {
  return `${addonName}-proxy-ca`;
}

/** The ConfigMap that the volume with the proxy's certificates shows. It is there whether a workload needs it or not. */
export function proxyCaConfigMap(
  addonName: string,
  namespace: string,
  caBundle: string | undefined,
): KubeObject | undefined {
  if (caBundle === undefined || caBundle === '') return undefined;
  return {
    apiVersion: 'v1',
    kind: 'ConfigMap',
    metadata: {
      name: proxyCaName(addonName),
      namespace: namespace === '' ? DEFAULT_INSTALL_NAMESPACE : namespace,
    },
    data: { [PROXY_CA_KEY]: textOfBase64(caBundle) },
  };
}

function textOfBase64(text: string): string {
  return new TextDecoder().decode(Uint8Array.from(atob(text), (character) => character.charCodeAt(0)));
}

function proxyEnv({ proxyConfig }: AddOnDeploymentConfigSpec): readonly EnvVariable[] {
  const given = [
    ['HTTP_PROXY', proxyConfig?.httpProxy],
    ['HTTPS_PROXY', proxyConfig?.httpsProxy],
    ['NO_PROXY', proxyConfig?.noProxy],
  ] as const;
  return given.flatMap(([name, value]) =>
    value === undefined || value === ''
      ? []
      : [
          { name, value },
          { name: name.toLowerCase(), value },
        ],
  );
}

/** Tolerations without a node selector do not count, as upstream. With one, both replace what the template has. */
function nodePlacement({ nodePlacement: placement }: AddOnDeploymentConfigSpec): PodSpec {
  if (placement?.nodeSelector === undefined) return {};
  return { nodeSelector: placement.nodeSelector, tolerations: placement.tolerations ?? [] };
}

function resourcesFor(
  requirements: readonly ContainerResources[],
  container: readonly string[],
): { readonly resources?: unknown } {
  const found = requirements.findLast(({ containerID }) => {
    const parts = containerID.split(':');
    return (
      parts.length === container.length && parts.every((part, at) => part === '*' || part === container[at])
    );
  });
  return found === undefined ? {} : { resources: found.resources };
}

/** Where mirrors of images are declared. The cluster's annotation counts only when the configuration has none. */
export type MirrorSource = Pick<Decoration, 'config' | 'imageRegistries'>;

export function mirrorsOf({ config, imageRegistries }: MirrorSource): readonly ImageMirror[] {
  if ((config.registries ?? []).length > 0) return config.registries ?? [];
  if (imageRegistries === undefined) return [];
  const { registries } = JSON.parse(imageRegistries) as { readonly registries?: readonly ImageMirror[] };
  return registries ?? [];
}

/**
 * The image at its mirror. As upstream: a source is a plain prefix, so `quay.io/ocm` is also one of `quay.io/ocm-io/agent`; an empty
 * source fits every image, of which only the last part stays; of several that fit the last one wins.
 */
export function mirroredImage(image: string, mirrors: readonly ImageMirror[]): string {
  return mirrors.reduce((found, { source, mirror }) => {
    const from = (source ?? '').replace(/\/+$/, '');
    const to = mirror.replace(/\/+$/, '');
    if (from === '') return to === '' ? lastPart(image) : `${to}/${lastPart(image)}`;
    return image.startsWith(from) ? `${to}${image.slice(from.length)}` : found;
  }, image);
}

function lastPart(image: string): string {
  return image.slice(image.lastIndexOf('/') + 1);
}
