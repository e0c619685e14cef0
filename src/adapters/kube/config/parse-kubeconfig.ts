import path from 'node:path';
import type { Cluster, Context, User } from '@kubernetes/client-node';
import { load } from 'js-yaml';
import type { KubeConfigParts } from './kube-config.ts';

type Fields = Readonly<Record<string, unknown>>;

/**
 * Parses one kubeconfig file. An empty file is valid and holds nothing.
 * Source of the rules: kubernetes/client-go, tools/clientcmd/loader.go (Load, ResolveLocalPaths) and tools/clientcmd/api/v1/conversion.go.
 * @param folder what relative paths in it are relative to: the folder of the file
 * @throws Error that names the field which has another type than kubectl expects, or the name that occurs twice in a list
 */
export function parseKubeconfig(text: string, folder: string): KubeConfigParts {
  const document = fieldsOf(load(text), 'the file');
  const { kind, apiVersion } = document;
  if ((kind || 'Config') !== 'Config' || (apiVersion || 'v1') !== 'v1')
    throw new Error(`got ${String(apiVersion)} ${String(kind)}, expected v1 Config`);
  const inFolder = (file: string | undefined): string | undefined => file && path.resolve(folder, file);
  return {
    clusters: namedEntries(document, 'clusters', 'cluster', (entry) => readCluster(entry, inFolder)),
    users: namedEntries(document, 'users', 'user', (entry) => readUser(entry, inFolder)),
    contexts: namedEntries(document, 'contexts', 'context', readContext),
    currentContext: textField(document, 'current-context', 'the file') || undefined,
  };
}

interface Entry {
  readonly name: string;
  readonly text: (key: string) => string | undefined;
  readonly fields: Fields;
}

type ResolvePath = (file: string | undefined) => string | undefined;

function readCluster({ name, text, fields }: Entry, inFolder: ResolvePath): Cluster {
  return defined({
    name,
    caData: text('certificate-authority-data'),
    caFile: inFolder(text('certificate-authority')),
    server: (text('server') ?? '').replace(/\/$/, ''),
    skipTLSVerify: fields['insecure-skip-tls-verify'] === true,
    tlsServerName: text('tls-server-name'),
    proxyUrl: text('proxy-url'),
  });
}

function readUser({ name, text, fields }: Entry, inFolder: ResolvePath): User {
  const tokenFile = inFolder(text('tokenFile'));
  return defined({
    name,
    // client-node reads token files as an authentication provider, and so do we.
    authProvider: tokenFile ? { name: 'tokenFile', config: { tokenFile } } : fields['auth-provider'],
    certData: text('client-certificate-data'),
    certFile: inFolder(text('client-certificate')),
    exec: withCommandIn(inFolder, fields['exec']),
    keyData: text('client-key-data'),
    keyFile: inFolder(text('client-key')),
    token: text('token'),
    password: text('password'),
    username: text('username'),
    impersonateUser: text('as'),
  });
}

/** A command without a slash is looked up on the PATH; one with a slash is a path. */
function withCommandIn(inFolder: ResolvePath, exec: unknown): unknown {
  const { command } = (exec ?? {}) as { readonly command?: unknown };
  if (typeof command !== 'string' || !command.includes('/')) return exec;
  return { ...(exec as object), command: inFolder(command) };
}

function readContext({ name, text }: Entry): Context {
  return defined({
    name,
    cluster: text('cluster') ?? '',
    user: text('user') ?? '',
    namespace: text('namespace'),
  });
}

function namedEntries<T>(document: Fields, list: string, key: string, read: (entry: Entry) => T): T[] {
  const entries = document[list] ?? [];
  if (!Array.isArray(entries)) throw new Error(`${list} is not a list`);
  const names = new Set<string>();
  return entries.map((item: unknown, index) => {
    const place = `${list}[${index}]`;
    const entry = fieldsOf(item, place);
    const name = textField(entry, 'name', place) ?? '';
    if (names.has(name)) throw new Error(`${place}: the name "${name}" occurs twice`);
    names.add(name);
    const fields = fieldsOf(entry[key], `${place}.${key}`);
    return read({ name, fields, text: (field) => textField(fields, field, `${place}.${key}`) });
  });
}

function fieldsOf(value: unknown, place: string): Fields {
  if (value === undefined || value === null) return {};
  if (typeof value !== 'object' || Array.isArray(value)) throw new Error(`${place} is not a YAML mapping`);
  return value as Fields;
}

/** The value is not part of the error: it may be a credential. */
function textField(fields: Fields, key: string, place: string): string | undefined {
  const value = fields[key] ?? undefined;
  if (value === undefined || typeof value === 'string') return value;
  throw new Error(`${place}: ${key} is a ${typeof value}, expected text`);
}

/** Absent fields are left out, as the types demand. */
function defined<T extends object>(fields: { readonly [K in keyof T]: T[K] | undefined }): T {
  return Object.fromEntries(Object.entries(fields).filter(([, value]) => value !== undefined)) as T;
}
