import { chmodSync, existsSync, mkdirSync, mkdtempSync, readFileSync, rmSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import path from 'node:path';
import { CertificateAuthority } from '@berth/kube/x509/certificate-authority';
import { createAuthority } from '@berth/kube/x509/self-signed-authority';
import {
  type RecordingApiServer,
  startRecordingApiServer,
} from '../../../packages/embedded-hub/test/fakes/recording-api-server.ts';
import { type RecordingProxies, startRecordingProxies } from '../../fakes/recording-proxies.ts';
import type { KubeconfigRequestCase, RecordedStep, SeenByPlugin } from './case.ts';

const LIFETIME_MS = 3_600_000;
const HOSTS = ['127.0.0.1', '::1', 'localhost', 'hub.example', 'other.example'];

/** Prints `credential.json` beside it, and writes down how it was called. Each field ends with a zero byte. */
export const PLUGIN = `#!/bin/sh
{ printf '%s\\0' "$0" "$#" "$@"; printf '%s\\0' "$PLUGIN_VARIABLE" "$KUBERNETES_EXEC_INFO"; } >> "$PLUGIN_RUNS"
cat "$(dirname "$0")/credential.json"
`;

/**
 * Sends one request with the kubeconfig that KUBECONFIG names.
 * @returns what went wrong, if anything did
 */
export type Ask = (env: NodeJS.ProcessEnv, step: number) => Promise<string | undefined>;

/** A server, proxies and certificates, and a folder for each case: the same for kubectl and for Berth. */
export class KubeconfigWorld {
  readonly server: RecordingApiServer;
  readonly #proxies: RecordingProxies;
  readonly #placeholders: Readonly<Record<string, string>>;

  private constructor(
    server: RecordingApiServer,
    proxies: RecordingProxies,
    placeholders: Readonly<Record<string, string>>,
  ) {
    this.server = server;
    this.#proxies = proxies;
    this.#placeholders = placeholders;
  }

  static async start(): Promise<KubeconfigWorld> {
    const nowMs = Date.now();
    const authority = new CertificateAuthority(createAuthority('kubeconfig-tests', nowMs));
    const serving = await authority.issueServing(HOSTS, nowMs, LIFETIME_MS);
    const [first, second] = await Promise.all(
      ['s3cretless-1', 's3cretless-2'].map((commonName) =>
        authority.issueClient({ commonName, organizations: [] }, nowMs, LIFETIME_MS),
      ),
    );
    const server = await startRecordingApiServer(serving);
    const proxies = await startRecordingProxies(serving);
    const pems = {
      CA: authority.certPem,
      OTHER_CA: createAuthority('another', nowMs).certPem,
      CERT1: first?.certPem ?? '',
      KEY1: first?.keyPem ?? '',
      CERT2: second?.certPem ?? '',
      KEY2: second?.keyPem ?? '',
    };
    const base64 = Object.entries(pems).map(([name, pem]) => [
      `${name}_DATA`,
      Buffer.from(pem).toString('base64'),
    ]);
    return new KubeconfigWorld(server, proxies, {
      API_PORT: String(server.port),
      API6_PORT: String(server.port6),
      HTTP_PORT: String(server.httpPort),
      PROXY_PORT: String(proxies.httpPort),
      TLS_PROXY_PORT: String(proxies.httpsPort),
      SOCKS_PORT: String(proxies.socksPort),
      ...pems,
      ...(Object.fromEntries(base64) as Record<string, string>),
    });
  }

  async close(): Promise<void> {
    await this.server.close();
    await this.#proxies.close();
  }

  /** Writes the files of a case, sends its requests, and tells what came of each. */
  async play(given: KubeconfigRequestCase, ask: Ask): Promise<RecordedStep[]> {
    const folder = mkdtempSync(path.join(tmpdir(), 'berth-kubeconfig-case-'));
    const fill = (text: string): string => this.#fill(text, folder);
    const runs = path.join(folder, 'plugin-runs');
    try {
      this.#write(folder, { config: fill(JSON.stringify(given.kubeconfig ?? kubeconfigOf(given))) });
      this.#write(folder, given.files ?? {});
      const own = Object.entries(given.env ?? {}).map(([name, value]) => [name, fill(value)]);
      const env: NodeJS.ProcessEnv = {
        PATH: process.env['PATH'],
        HOME: folder,
        KUBECONFIG: path.join(folder, 'config'),
        PLUGIN_RUNS: runs,
        ...(Object.fromEntries(own) as NodeJS.ProcessEnv),
      };
      const steps: RecordedStep[] = [];
      for (const [at, { files }] of [{ files: {} }, ...(given.then ?? [])].entries()) {
        this.#write(folder, files);
        rmSync(runs, { force: true });
        const problem = await ask(env, at);
        steps.push(this.#taken(runs, problem, folder));
      }
      return steps;
    } finally {
      rmSync(folder, { recursive: true, force: true });
    }
  }

  #taken(runs: string, problem: string | undefined, folder: string): RecordedStep {
    const step: RecordedStep = {
      requests: this.server.taken(),
      proxies: this.#proxies.taken(),
      plugins: existsSync(runs) ? parseRuns(readFileSync(runs, 'utf8')) : [],
      outcome: problem === undefined ? 'answered' : 'refused',
      ...(problem !== undefined && { says: problem }),
    };
    return JSON.parse(this.#unfill(JSON.stringify(step), folder)) as RecordedStep;
  }

  #write(folder: string, files: Readonly<Record<string, string | null>>): void {
    for (const [name, text] of Object.entries(files)) {
      const file = path.join(folder, name);
      mkdirSync(path.dirname(file), { recursive: true });
      if (text === null) rmSync(file);
      else writeFileSync(file, this.#fill(text, folder));
      if (text?.startsWith('#!') === true) chmodSync(file, 0o755);
    }
  }

  /** In JSON, line breaks of a PEM are written as JSON does. */
  #fill(text: string, folder: string): string {
    const inJson = text.startsWith('{');
    const whole: Readonly<Record<string, string>> = { ...this.#placeholders, DIR: folder };
    return text.replace(/\$\{([A-Z0-9_]+)\}/g, (found, name: string) => {
      const value = whole[name];
      if (value === undefined) return found;
      return inJson ? JSON.stringify(value).slice(1, -1) : value;
    });
  }

  #unfill(text: string, folder: string): string {
    let result = text.replaceAll(folder, '${DIR}');
    for (const [name, value] of Object.entries(this.#placeholders)) {
      if (name.endsWith('_PORT')) result = result.replaceAll(`:${value}`, `:\${${name}}`);
      else result = result.replaceAll(JSON.stringify(value).slice(1, -1), `\${${name}}`);
    }
    return result;
  }
}

function kubeconfigOf({ cluster = {}, user = {} }: KubeconfigRequestCase): object {
  return {
    apiVersion: 'v1',
    kind: 'Config',
    'current-context': 'here',
    contexts: [{ name: 'here', context: { cluster: 'hub', user: 'me' } }],
    clusters: [{ name: 'hub', cluster: { server: 'https://127.0.0.1:${API_PORT}', ...cluster } }],
    users: [{ name: 'me', user }],
  };
}

function parseRuns(text: string): SeenByPlugin[] {
  const fields = text.split('\0').slice(0, -1);
  const runs: SeenByPlugin[] = [];
  while (fields.length > 0) {
    const [command = '', count = '0'] = fields.splice(0, 2);
    const args = fields.splice(0, Number(count));
    const [variable = '', info = ''] = fields.splice(0, 2);
    runs.push({ command, args, variable, info: JSON.parse(info) as unknown });
  }
  return runs;
}
