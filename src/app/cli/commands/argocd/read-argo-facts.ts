import {
  CONFIG_MAP,
  DEPLOYMENT,
  PLACEMENT_DECISION,
  SECRET,
  SUBJECT_ACCESS_REVIEW,
} from '@berth/kube/model/kinds';
import type { KubeApi } from '@berth/kube/model/kube-api';
import type { KubeObject } from '@berth/kube/model/object-meta';
import { secretTexts } from '@berth/kube/secret-texts';
import { InputError } from '@berth/runtime/errors';
import {
  accountUser,
  type ArgoFacts,
  type ArgoSecret,
  type ProbeResult,
  type Texts,
} from '../../../../../plugin/doctor/argo-facts.ts';
import { decisionGenerators } from '../../../../../plugin/doctor/generators-in-use.ts';
import { tokenReference } from '../../../../../plugin/doctor/plugin-config-problems.ts';
import { GETPARAMS_PATH } from '../../../../../plugin/getparams-endpoint.ts';
import { GENERATOR_ACCOUNTS } from '../../../../../plugin/install/argo-connection.ts';
import { APP_PROJECT, APPLICATION_SET } from '../../../../core/argocd/argocd-kinds.ts';
import { SECRET_TYPE_LABEL } from '../../../../core/argocd/cluster-secrets/cluster-secret.ts';

/** Sends a request with a token and without a placement. */
export type Probe = (baseUrl: string, token: string) => Promise<ProbeResult>;

const CLUSTER_SECRETS = `${SECRET_TYPE_LABEL}=cluster`;
/**
 * Reads the inputs of `diagnose`. Changes nothing.
 * @throws InputError when the API does not serve ApplicationSets
 */
export async function readArgoFacts(hub: KubeApi, namespace: string, probe: Probe): Promise<ArgoFacts> {
  const applicationSets = await applicationSetsOf(hub);
  const names = new Map(
    applicationSets.flatMap(decisionGenerators).map(({ configMap, kind }) => [configMap, kind]),
  );
  const configMaps = await byName([...names.keys()], (name) => textsOf(hub, namespace, name));
  const references = [...names].flatMap(([name, kind]) => {
    const token = kind === 'plugin' ? configMaps.get(name)?.['token'] : undefined;
    return token?.startsWith('$') === true ? [{ name, ...tokenReference(token) }] : [];
  });
  const secrets = await byName(
    references.map(({ secret }) => secret),
    (name) => secretOf(hub, namespace, name),
  );
  const probes = new Map<string, ProbeResult>();
  for (const { name, secret, key } of references) {
    const baseUrl = configMaps.get(name)?.['baseUrl'] ?? '';
    const token = secrets.get(secret)?.data[key]?.trim();
    if (token !== undefined && URL.canParse(baseUrl)) probes.set(name, await probe(baseUrl, token));
  }
  const clusters = await hub.list(SECRET, { namespace, labelSelector: CLUSTER_SECRETS });
  const decisions = await hub.list(PLACEMENT_DECISION, { namespace });
  return {
    namespace,
    version: await argoVersion(hub, namespace),
    applicationSets,
    configMaps,
    secrets,
    clusterSecrets: clusters.items.map((secret) => ({
      name: secret.metadata.name,
      data: secretTexts(secret),
    })),
    decisions: decisions.items,
    projects: await projectsOf(hub, namespace),
    mayList: await mayListDecisions(hub, namespace),
    probes,
  };
}

async function applicationSetsOf(hub: KubeApi): Promise<readonly KubeObject[]> {
  try {
    return (await hub.list(APPLICATION_SET)).items;
  } catch (error) {
    if (!(error instanceof InputError) || error.code !== 'kube.notfound') throw error;
    throw new InputError('the API has no ApplicationSets, expected an Argo CD with its definitions', {
      code: 'argocd.not-installed',
      subject: hub.server,
      hint: 'kubectl apply --server-side -n argocd -k https://github.com/argoproj/argo-cd/manifests/cluster-install?ref=stable',
      cause: error,
    });
  }
}

/** Undefined if the kind is not served, or if this user may not list it. */
async function projectsOf(hub: KubeApi, namespace: string): Promise<ReadonlySet<string> | undefined> {
  try {
    const { items } = await hub.list(APP_PROJECT, { namespace });
    return new Set(items.map(({ metadata }) => metadata.name));
  } catch (error) {
    if (error instanceof InputError) return undefined;
    throw error;
  }
}

async function byName<T>(
  names: readonly string[],
  read: (name: string) => Promise<T | undefined>,
): Promise<ReadonlyMap<string, T | undefined>> {
  const found = new Map<string, T | undefined>();
  for (const name of new Set(names)) found.set(name, name === '' ? undefined : await read(name));
  return found;
}

async function textsOf(hub: KubeApi, namespace: string, name: string): Promise<Texts | undefined> {
  const found = await hub.get(CONFIG_MAP, { namespace, name });
  return found === undefined ? undefined : ((found['data'] ?? {}) as Texts);
}

async function secretOf(hub: KubeApi, namespace: string, name: string): Promise<ArgoSecret | undefined> {
  const found = await hub.get(SECRET, { namespace, name });
  return found && { data: secretTexts(found), labels: found.metadata.labels ?? {} };
}

async function mayListDecisions(hub: KubeApi, namespace: string): Promise<ReadonlyMap<string, boolean>> {
  const { group, plural: resource } = PLACEMENT_DECISION;
  const found = new Map<string, boolean>();
  for (const account of GENERATOR_ACCOUNTS) {
    const review = await hub.create(SUBJECT_ACCESS_REVIEW, {
      apiVersion: 'authorization.k8s.io/v1',
      kind: 'SubjectAccessReview',
      metadata: { name: '' },
      spec: {
        user: accountUser(namespace, account),
        groups: ['system:serviceaccounts', `system:serviceaccounts:${namespace}`, 'system:authenticated'],
        resourceAttributes: { group, resource, verb: 'list', namespace },
      },
    });
    found.set(account, (review['status'] as { readonly allowed?: boolean } | undefined)?.allowed === true);
  }
  return found;
}

/** Deployments of Argo CD, the one that generates first. With Helm and the operator they begin with the name of the installation. */
const DEPLOYMENTS = [/applicationset-controller$/, /repo-server$/, /server$/];
const VERSION_LABEL = 'app.kubernetes.io/version';
/** Of whatever registry, with the tag that a mirror gave it. */
const IMAGE = /(?:^|\/)[^/:@]*argocd[^/:@]*:(v?\d[^@]*)/;

/** From the tag of an image, else from the label that the Helm chart sets. Undefined also where this user may not look. */
export async function argoVersion(hub: KubeApi, namespace: string): Promise<string | undefined> {
  const deployments = await deploymentsOf(hub, namespace);
  const ofArgo = DEPLOYMENTS.flatMap((name) =>
    deployments.filter(({ metadata }) => name.test(metadata.name)),
  );
  const tags = ofArgo.flatMap(imagesOf).map((image) => IMAGE.exec(image)?.[1]);
  const labels = ofArgo.map(({ metadata }) => metadata.labels?.[VERSION_LABEL]);
  return [...tags, ...labels].find((version) => version !== undefined);
}

async function deploymentsOf(hub: KubeApi, namespace: string): Promise<readonly KubeObject[]> {
  try {
    return (await hub.list(DEPLOYMENT, { namespace })).items;
  } catch (error) {
    if (error instanceof InputError) return [];
    throw error;
  }
}

function imagesOf(deployment: KubeObject): readonly string[] {
  const { template } = (deployment['spec'] ?? {}) as {
    readonly template?: { readonly spec?: { readonly containers?: readonly { readonly image?: string }[] } };
  };
  return (template?.spec?.containers ?? []).map(({ image = '' }) => image);
}

const TIMEOUT_MS = 10_000;

/** Sends a request like Argo CD's, but without a placement: a healthy endpoint responds with 400. */
export async function probeEndpoint(baseUrl: string, token: string): Promise<ProbeResult> {
  try {
    const response = await fetch(`${baseUrl.replace(/\/$/, '')}${GETPARAMS_PATH}`, {
      method: 'POST',
      headers: { 'content-type': 'application/json', authorization: `Bearer ${token}` },
      body: JSON.stringify({ applicationSetName: 'berth-argocd-doctor', input: {} }),
      redirect: 'manual',
      signal: AbortSignal.timeout(TIMEOUT_MS),
    });
    const { message = '' } = parsed(await response.text());
    return { kind: 'answered', status: response.status, message };
  } catch (error) {
    const cause = error instanceof Error && error.cause instanceof Error ? error.cause : error;
    const { code = '' } = cause as { readonly code?: string };
    return { kind: 'failed', code, message: cause instanceof Error ? cause.message : String(cause) };
  }
}

function parsed(text: string): { readonly message?: string } {
  try {
    return JSON.parse(text) as { readonly message?: string };
  } catch {
    return { message: text.slice(0, 200) };
  }
}
