import path from 'node:path';
import { load } from 'js-yaml';
import type { ExecPluginConfig } from '../exec/exec-credential.ts';
import type {
  AuthProvider,
  KubeCluster,
  KubeConfigParts,
  KubeContext,
  KubeUser,
} from './kubeconfig-entries.ts';

/**
 * Parses one kubeconfig file. An empty file is valid and declares nothing.
 * Source of the rules: kubernetes/client-go, tools/clientcmd/loader.go (Load, ResolveLocalPaths) and tools/clientcmd/api/v1
 * (conversion.go, defaults.go).
 * @param folder the folder of the file, which relative paths in it are based on
 * @throws Error that names the field with a wrong type, or the name that occurs twice in a list
 */
export function parseKubeconfig(text: string, folder: string): KubeConfigParts {
  const document = new FieldReader(load(text), '');
  const [kind, apiVersion] = [document.raw('kind'), document.raw('apiVersion')];
  if ((kind || 'Config') !== 'Config' || (apiVersion || 'v1') !== 'v1')
    throw new Error(`got ${String(apiVersion)} ${String(kind)}, expected v1 Config`);
  const inFolder = (file: string | undefined): string | undefined => file && path.resolve(folder, file);
  return {
    clusters: namedEntries(document, ['clusters', 'cluster'], (entry) => readCluster(entry, inFolder)),
    users: namedEntries(document, ['users', 'user'], (entry) => readUser(entry, inFolder)),
    contexts: namedEntries(document, ['contexts', 'context'], readContext),
    currentContext: document.text('current-context'),
  };
}

interface Entry {
  readonly name: string;
  readonly fields: FieldReader;
}

type ResolvePath = (file: string | undefined) => string | undefined;

/** The extension of a cluster that is passed to its exec plugins. */
const EXEC_EXTENSION = 'client.authentication.k8s.io/exec';

function readCluster({ name, fields }: Entry, inFolder: ResolvePath): KubeCluster {
  const extension = fields.list('extensions').find((entry) => entry.text('name') === EXEC_EXTENSION);
  return defined<KubeCluster>({
    name,
    caData: fields.base64('certificate-authority-data'),
    caFile: inFolder(fields.text('certificate-authority')),
    server: (fields.text('server') ?? '').replace(/\/$/, ''),
    skipTLSVerify: fields.flag('insecure-skip-tls-verify'),
    tlsServerName: fields.text('tls-server-name'),
    proxyUrl: fields.text('proxy-url'),
    disableCompression: fields.flag('disable-compression'),
    execConfig: extension?.raw('extension'),
  });
}

function readUser({ name, fields }: Entry, inFolder: ResolvePath): KubeUser {
  const provider = fields.child('auth-provider');
  const exec = fields.child('exec');
  return defined<KubeUser>({
    name,
    authProvider: provider && readAuthProvider(provider),
    certData: fields.base64('client-certificate-data'),
    certFile: inFolder(fields.text('client-certificate')),
    exec: exec && readExec(exec, inFolder),
    keyData: fields.base64('client-key-data'),
    keyFile: inFolder(fields.text('client-key')),
    token: fields.text('token'),
    tokenFile: inFolder(fields.text('tokenFile')),
    password: fields.text('password'),
    username: fields.text('username'),
    impersonateUser: fields.text('as'),
    impersonateUid: fields.text('as-uid'),
    impersonateGroups: fields.texts('as-groups'),
    impersonateExtra: fields.textsMap('as-user-extra'),
  });
}

function readAuthProvider(fields: FieldReader): AuthProvider {
  return { name: fields.text('name') ?? '', config: fields.textMap('config') };
}

/** Versions of the plugin API in which `interactiveMode` has a default. */
const MODE_HAS_DEFAULT = new Set([
  'client.authentication.k8s.io/v1alpha1',
  'client.authentication.k8s.io/v1beta1',
]);

function readExec(fields: FieldReader, inFolder: ResolvePath): ExecPluginConfig {
  const command = fields.text('command') ?? '';
  const apiVersion = fields.text('apiVersion') ?? '';
  return {
    // A command without a slash is searched on the PATH. One with a slash is a path.
    command: command.includes('/') ? (inFolder(command) ?? '') : command,
    args: fields.texts('args'),
    env: fields
      .list('env')
      .map((entry) => ({ name: entry.text('name') ?? '', value: entry.text('value') ?? '' })),
    apiVersion,
    installHint: fields.text('installHint') ?? '',
    provideClusterInfo: fields.flag('provideClusterInfo'),
    interactiveMode:
      fields.text('interactiveMode') ?? (MODE_HAS_DEFAULT.has(apiVersion) ? 'IfAvailable' : ''),
  };
}

function readContext({ name, fields }: Entry): KubeContext {
  return defined<KubeContext>({
    name,
    cluster: fields.text('cluster') ?? '',
    user: fields.text('user') ?? '',
    namespace: fields.text('namespace'),
  });
}

function namedEntries<T>(
  document: FieldReader,
  [list, key]: readonly [string, string],
  read: (entry: Entry) => T,
): T[] {
  const names = new Set<string>();
  return document.list(list).map((entry) => {
    const name = entry.text('name') ?? '';
    if (names.has(name)) entry.refuse(`the name "${name}" occurs twice`);
    names.add(name);
    return read({ name, fields: entry.mapping(key) });
  });
}

/** Drops undefined fields, as the types require. */
function defined<T extends object>(fields: { readonly [K in keyof T]: T[K] | undefined }): T {
  return Object.fromEntries(Object.entries(fields).filter(([, value]) => value !== undefined)) as T;
}

type Fields = Readonly<Record<string, unknown>>;

const BASE64 = /^(?:[A-Za-z0-9+/]{4})*(?:[A-Za-z0-9+/]{2}==|[A-Za-z0-9+/]{3}=)?$/;

/**
 * Typed access to the fields of a YAML mapping. `null` counts as absent. Errors never contain values, because they may
 * be credentials.
 * Each method throws an Error that names the field and the expected type.
 */
class FieldReader {
  readonly #fields: Fields;
  readonly #place: string;

  /** @param place the position of the mapping in its file, for errors: `users[0].user` */
  constructor(value: unknown, place: string) {
    this.#fields = mappingOf(value, place);
    this.#place = place;
  }

  /** Undefined when the field is absent or empty. */
  text(key: string): string | undefined {
    return textOf(this.#fields[key], this.#at(key)) || undefined;
  }

  /** The text of the field if it is valid base64, ignoring line breaks. */
  base64(key: string): string | undefined {
    const value = this.text(key)?.replace(/[\r\n]/g, '');
    if (value === undefined || BASE64.test(value)) return value;
    throw new Error(`${this.#at(key)} is not base64`);
  }

  flag(key: string): boolean {
    const value = this.#fields[key] ?? false;
    if (typeof value === 'boolean') return value;
    throw new Error(`${this.#at(key)} is a ${typeof value}, expected true or false`);
  }

  texts(key: string): readonly string[] {
    return textsOf(this.#fields[key], this.#at(key));
  }

  textMap(key: string): Readonly<Record<string, string>> {
    return this.#map(key, textOf);
  }

  textsMap(key: string): Readonly<Record<string, readonly string[]>> {
    return this.#map(key, textsOf);
  }

  /** Undefined when the field is absent. */
  child(key: string): FieldReader | undefined {
    const value = this.#fields[key] ?? undefined;
    return value === undefined ? undefined : new FieldReader(value, `${this.#place}.${key}`);
  }

  /** Returns a mapping without fields if the field is absent. */
  mapping(key: string): FieldReader {
    return new FieldReader(this.#fields[key], `${this.#place}.${key}`);
  }

  list(key: string): readonly FieldReader[] {
    const place = this.#place === '' ? key : `${this.#place}.${key}`;
    return listOf(this.#fields[key], place).map((item, at) => new FieldReader(item, `${place}[${at}]`));
  }

  /** The value without any conversion. */
  raw(key: string): unknown {
    return this.#fields[key];
  }

  /** @throws Error with the position */
  refuse(problem: string): never {
    throw new Error(`${this.#place}: ${problem}`);
  }

  #at(key: string): string {
    return this.#place === '' ? key : `${this.#place}: ${key}`;
  }

  #map<T>(key: string, read: (value: unknown, place: string) => T): Readonly<Record<string, T>> {
    const place = `${this.#place}.${key}`;
    const entries = Object.entries(mappingOf(this.#fields[key], place));
    return Object.fromEntries(entries.map(([name, value]) => [name, read(value, `${place}: ${name}`)]));
  }
}

function mappingOf(value: unknown, place: string): Fields {
  if (value === undefined || value === null) return {};
  if (typeof value !== 'object' || Array.isArray(value))
    throw new Error(`${place || 'the file'} is not a YAML mapping`);
  return value as Fields;
}

function listOf(value: unknown, place: string): readonly unknown[] {
  if (value === undefined || value === null) return [];
  if (!Array.isArray(value)) throw new Error(`${place} is not a list`);
  return value;
}

function textOf(value: unknown, place: string): string {
  if (value === undefined || value === null) return '';
  if (typeof value === 'string') return value;
  throw new Error(`${place} is a ${typeof value}, expected text`);
}

function textsOf(value: unknown, place: string): readonly string[] {
  return listOf(value, place).map((item, at) => textOf(item, `${place}[${at}]`));
}
