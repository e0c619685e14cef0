import { StringMap } from '@berth/go-template/values';
import { GenerateError, withPrefix } from '../failure/failures.ts';
import type { ClusterSecret } from '../inputs/generator-inputs.ts';
import { type JsonValue, setKey } from '../json/json-value.ts';
import { parseFirstJson, toJsonValue, trailingProblem } from '../json/parse-go-json.ts';
import { type Params, ParamsList } from '../params/params.ts';
import { checkOptions } from '../params/replace-text.ts';
import { LABEL_SELECTOR, matchesAll, requirementsOf } from '../selector/requirement.ts';
import { decodeTyped } from '../typed/decode-typed.ts';
import { describeGoTypes, type TypedObject } from '../types/go-type.ts';
import { appendTemplatedValues, type GeneratorContext } from './generator-context.ts';

export const IN_CLUSTER_NAME = 'in-cluster';
export const IN_CLUSTER_SERVER = 'https://kubernetes.default.svc';
const SECRET_TYPE_LABEL = 'argocd.argoproj.io/secret-type';

/** Annotations of Argo CD and kubectl. They do not become parameters; the two times do not since Argo CD 3.6. */
const OWN_ANNOTATIONS = new Set([
  'argocd.argoproj.io/refresh',
  'argocd.argoproj.io/refresh-timestamp',
  'argocd.argoproj.io/hydrate',
  'argocd.argoproj.io/hydrate-timestamp',
  'argocd.argoproj.io/tracking-id',
  'argocd.argoproj.io/installation-id',
  'kubectl.kubernetes.io/last-applied-configuration',
]);

/**
 * The clusters generator. It makes a parameter set for each cluster Secret that matches the
 * selector. It makes one for the local cluster if that cluster has no Secret and the selector is
 * empty. Source: argo-cd applicationset/generators/cluster.go.
 * @throws GenerateError, GoPanic
 */
export function generateClusters(generator: TypedObject, { mode, inputs }: GeneratorContext): Params[] {
  const selector = (generator['selector'] ?? {}) as TypedObject;
  const values = generator['values'] as TypedObject | undefined;
  const requirements = withPrefix('error getting cluster secrets: error converting label selector', () =>
    requirementsOf(withSecretType(selector), LABEL_SELECTOR),
  );
  const selectsNothing =
    ((selector['matchExpressions'] ?? []) as readonly unknown[]).length === 0 &&
    Object.keys((selector['matchLabels'] ?? {}) as object).length === 0;
  // If two Secrets have the same name, Argo CD may use either.
  const byName = new Map(
    inputs.clusters
      .filter(({ labels }) => matchesAll(requirements, labels ?? {}))
      .map((secret) => [secret.name ?? '', secret]),
  );
  const sets: Params[] = [];
  const add = (params: Params, whose: string): void => {
    withPrefix(`error appending templated values for ${whose}`, () => {
      if (values !== undefined && Object.keys(values).length > 0) checkOptions(mode);
      appendTemplatedValues(values, params, mode);
    });
    sets.push(params);
  };
  for (const secret of byName.values()) add(parametersOf(secret, mode.goTemplate), 'cluster');
  const hasLocal = [...byName.values()].some(({ server }) => server === IN_CLUSTER_SERVER);
  if (selectsNothing && !hasLocal) add(localCluster(), 'local cluster');
  return generator['flatList'] === true ? [{ clusters: ParamsList.from(sets) }] : sets;
}

function withSecretType(selector: TypedObject): TypedObject {
  const matchLabels = { ...((selector['matchLabels'] ?? {}) as TypedObject), [SECRET_TYPE_LABEL]: 'cluster' };
  return { ...selector, matchLabels };
}

function localCluster(): Params {
  return { name: IN_CLUSTER_NAME, nameNormalized: IN_CLUSTER_NAME, server: IN_CLUSTER_SERVER, project: '' };
}

function parametersOf(
  { name = '', server = '', project = '', ...meta }: ClusterSecret,
  goTemplate: boolean,
): Params {
  const params: Params = { name, nameNormalized: normalizeName(name), server, project };
  const annotations = Object.fromEntries(
    Object.entries(meta.annotations ?? {}).filter(([key]) => !OWN_ANNOTATIONS.has(key)),
  );
  const labels = meta.labels ?? {};
  if (goTemplate) {
    const metadata: Params = {};
    if (Object.keys(meta.annotations ?? {}).length > 0) metadata['annotations'] = new StringMap(annotations);
    if (Object.keys(labels).length > 0) metadata['labels'] = new StringMap({ ...labels });
    params['metadata'] = metadata;
  } else {
    for (const [key, value] of Object.entries(annotations))
      setKey(params, `metadata.annotations.${key}`, value);
    for (const [key, value] of Object.entries(labels)) setKey(params, `metadata.labels.${key}`, value);
  }
  return params;
}

/**
 * Makes a name that Kubernetes accepts: lower-case letters, digits, `-` and `.`, with a letter or
 * digit at both ends.
 */
function normalizeName(name: string): string {
  return name
    .toLowerCase()
    .replace(/[^-a-z0-9.]/gu, '-')
    .slice(0, 253)
    .replace(/^[-.]+|[-.]+$/g, '');
}

const CLUSTER_CONFIG = describeGoTypes({
  ClusterConfig: `username?:string password?:string bearerToken?:string tlsClientConfig:TLSClientConfig
    awsAuthConfig?:*AWSAuthConfig execProviderConfig?:*ExecProviderConfig disableCompression?:bool proxyUrl?:string`,
  TLSClientConfig: 'insecure:bool serverName?:string certData?:string keyData?:string caData?:string',
  AWSAuthConfig: 'clusterName?:string roleARN?:string profile?:string',
  ExecProviderConfig: 'command?:string args?:[]string env?:{}string apiVersion?:string installHint?:string',
})('ClusterConfig');

const BYTES = ['certData', 'keyData', 'caData'];

/**
 * The addresses of the clusters that Argo CD knows, by name, including the local cluster.
 * @throws GenerateError if the config of one Secret cannot be read; then Argo CD knows no cluster
 */
export function listArgoClusters(secrets: readonly ClusterSecret[]): ReadonlyMap<string, string> {
  let clusters = LISTED.get(secrets);
  if (clusters === undefined) LISTED.set(secrets, (clusters = readArgoClusters(secrets)));
  return clusters;
}

/** All ApplicationSets with the same inputs have the same Secrets. */
const LISTED = new WeakMap<readonly ClusterSecret[], ReadonlyMap<string, string>>();

function readArgoClusters(secrets: readonly ClusterSecret[]): ReadonlyMap<string, string> {
  if (secrets.some(({ config }) => !isReadableConfig(config)))
    throw new GenerateError(
      'error listing clusters: cluster cache contains unexpected type *v1.Secret instead of *Cluster, secret conversion failure',
    );
  const clusters = new Map<string, string>();
  for (const { name = '', server = '' } of secrets)
    if (!clusters.has(name)) clusters.set(name, server.replace(/\/+$/, ''));
  if (![...clusters.values()].includes(IN_CLUSTER_SERVER) && !clusters.has(IN_CLUSTER_NAME))
    clusters.set(IN_CLUSTER_NAME, IN_CLUSTER_SERVER);
  return clusters;
}

/** Whether Argo CD can read the config of a cluster Secret. It can read an empty one. */
export function isReadableConfig(text: string | undefined): boolean {
  if (text === undefined || text === '') return true;
  const parsed = parseFirstJson(text);
  if ('problem' in parsed || trailingProblem(text, parsed.end) !== undefined) return false;
  const json = toJsonValue(parsed.node);
  const { value, error } = decodeTyped(CLUSTER_CONFIG, json);
  if (error !== undefined) return false;
  const tls = (value['tlsClientConfig'] ?? {}) as Readonly<Record<string, JsonValue>>;
  return BYTES.every((field) => isBase64((tls[field] ?? '') as string));
}

function isBase64(text: string): boolean {
  const bare = text.replace(/[\r\n]/g, '');
  return bare.length % 4 === 0 && /^[A-Za-z0-9+/]*={0,2}$/.test(bare);
}
