import { GenerateError } from '../failure/failures.ts';
import type { JsonValue } from '../json/json-value.ts';
import { parseFirstJson, toJsonValue, trailingProblem } from '../json/parse-go-json.ts';
import { decodeTyped } from '../typed/decode-typed.ts';
import { describeGoTypes } from '../types/go-type.ts';
import type { ClusterSecret } from '../inputs/generator-inputs.ts';
import { IN_CLUSTER_NAME, IN_CLUSTER_SERVER } from './clusters.ts';

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
