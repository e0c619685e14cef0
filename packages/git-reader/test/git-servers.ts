import { execFileSync, spawn } from 'node:child_process';
import { chmodSync, mkdirSync, readFileSync, writeFileSync } from 'node:fs';
import http from 'node:http';
import net from 'node:net';
import os from 'node:os';
import path from 'node:path';
import { PATIENCE_MS } from '@berth/test-kit/patience';
import { tempDir } from './git-fixture.ts';

export interface GitServer {
  /** URL of the repository. */
  readonly url: string;
  readonly close: () => Promise<void>;
}

export interface HttpServerOptions {
  /** Basic credentials to ask for. */
  readonly credentials?: { readonly username: string; readonly password: string };
  /** Called for every request before git sees it; true: the request was answered here. */
  readonly intercept?: (request: http.IncomingMessage, response: http.ServerResponse) => boolean;
  /** An address of this machine, which others reach. Default: loopback. */
  readonly host?: string;
}

/** Smart HTTP: `git http-backend` as a CGI program behind node:http. */
export async function serveHttp(gitDir: string, options: HttpServerOptions = {}): Promise<GitServer> {
  const server = http.createServer((request, response) => {
    if (options.intercept?.(request, response) === true) return;
    if (options.credentials !== undefined && !authorized(request, options.credentials)) {
      response.writeHead(401, { 'www-authenticate': 'Basic realm="git"' }).end();
      return;
    }
    runBackend(gitDir, request, response);
  });
  const { host = '127.0.0.1' } = options;
  await new Promise<void>((resolve) => server.listen(0, host, resolve));
  const { port } = server.address() as net.AddressInfo;
  return {
    url: `http://${host}:${port}/${path.basename(gitDir)}`,
    close: () =>
      new Promise((resolve) => {
        server.close(() => resolve());
        server.closeAllConnections();
      }),
  };
}

function authorized(
  request: http.IncomingMessage,
  { username, password }: { username: string; password: string },
): boolean {
  return (
    request.headers.authorization === `Basic ${Buffer.from(`${username}:${password}`).toString('base64')}`
  );
}

function runBackend(gitDir: string, request: http.IncomingMessage, response: http.ServerResponse): void {
  const url = new URL(request.url ?? '/', 'http://x');
  const backend = spawn('git', ['http-backend'], {
    env: {
      PATH: process.env['PATH'],
      GIT_PROJECT_ROOT: path.dirname(gitDir),
      GIT_HTTP_EXPORT_ALL: '1',
      REQUEST_METHOD: request.method,
      PATH_INFO: url.pathname,
      QUERY_STRING: url.search.slice(1),
      CONTENT_TYPE: request.headers['content-type'] ?? '',
      CONTENT_LENGTH: request.headers['content-length'] ?? '',
      HTTP_CONTENT_ENCODING: request.headers['content-encoding'] ?? '',
      GIT_PROTOCOL: String(request.headers['git-protocol'] ?? ''),
    },
  });
  request.pipe(backend.stdin);
  backend.stdin.on('error', () => undefined);
  const chunks: Buffer[] = [];
  let headersSent = false;
  backend.stdout.on('data', (chunk: Buffer) => {
    if (headersSent) return void response.write(chunk);
    chunks.push(chunk);
    const all = Buffer.concat(chunks);
    const end = all.indexOf('\r\n\r\n');
    if (end === -1) return;
    headersSent = true;
    const headers = all
      .toString('latin1', 0, end)
      .split('\r\n')
      .map((line) => line.split(/:\s*/, 2));
    const status = headers.find(([name]) => name === 'Status')?.[1];
    response.statusCode = status === undefined ? 200 : Number.parseInt(status, 10);
    for (const [name = '', value = ''] of headers) if (name !== 'Status') response.setHeader(name, value);
    response.write(all.subarray(end + 4));
  });
  backend.on('close', () => response.end());
}

export interface SshServer extends GitServer {
  readonly keyFile: string;
  readonly knownHostsFile: string;
  /** A key that the server does not know. */
  readonly strangerKeyFile: string;
}

/** OpenSSH's sshd on loopback with a host key, one authorized key, and a repository. */
export async function serveSsh(gitDir: string, sshd: string): Promise<SshServer> {
  const dir = tempDir();
  const keygen = (name: string): string => {
    const file = path.join(dir, name);
    execFileSync('ssh-keygen', ['-q', '-t', 'ed25519', '-N', '', '-f', file]);
    return file;
  };
  const [hostKey, keyFile, strangerKeyFile] = [keygen('host'), keygen('user'), keygen('stranger')];
  writeFileSync(path.join(dir, 'authorized'), readFileSync(`${keyFile}.pub`));
  chmodSync(path.join(dir, 'authorized'), 0o600);
  const port = await freePort();
  writeFileSync(
    path.join(dir, 'sshd_config'),
    [
      `Port ${port}`,
      'ListenAddress 127.0.0.1',
      `HostKey ${hostKey}`,
      `AuthorizedKeysFile ${path.join(dir, 'authorized')}`,
      `PidFile ${path.join(dir, 'pid')}`,
      'PasswordAuthentication no',
      'KbdInteractiveAuthentication no',
      'UsePAM no',
      'StrictModes no',
    ].join('\n'),
  );
  // Its privilege separation asks for this directory when it runs as root.
  if (process.getuid?.() === 0) mkdirSync('/run/sshd', { recursive: true });
  const server = spawn(sshd, ['-D', '-e', '-f', path.join(dir, 'sshd_config')], {
    stdio: ['ignore', 'ignore', 'pipe'],
  });
  let said = '';
  server.stderr.on('data', (chunk: Buffer) => (said += chunk.toString()));
  await waitForPort(
    port,
    () => server.exitCode !== null,
    () => said,
  );
  const knownHostsFile = path.join(dir, 'known_hosts');
  const publicKey = readFileSync(`${hostKey}.pub`, 'utf8').split(' ').slice(0, 2).join(' ');
  writeFileSync(knownHostsFile, `[127.0.0.1]:${port} ${publicKey}\n`);
  return {
    url: `ssh://${os.userInfo().username}@127.0.0.1:${port}${gitDir}`,
    keyFile,
    knownHostsFile,
    strangerKeyFile,
    close: () =>
      new Promise((resolve) => {
        server.once('close', () => resolve());
        server.kill();
      }),
  };
}

async function freePort(): Promise<number> {
  const server = net.createServer();
  await new Promise<void>((resolve) => server.listen(0, '127.0.0.1', resolve));
  const { port } = server.address() as net.AddressInfo;
  await new Promise((resolve) => server.close(resolve));
  return port;
}

async function waitForPort(port: number, dead: () => boolean, said: () => string): Promise<void> {
  for (const deadline = Date.now() + PATIENCE_MS; Date.now() < deadline; ) {
    if (dead()) throw new Error(`sshd ended: ${said()}`);
    const open = await new Promise<boolean>((resolve) => {
      const socket = net.connect(port, '127.0.0.1', () => {
        socket.destroy();
        resolve(true);
      });
      socket.on('error', () => resolve(false));
    });
    if (open) return;
    // fixed wait: the pace of a poll
    await new Promise((resolve) => setTimeout(resolve, 25));
  }
  throw new Error(`sshd does not listen: ${said()}`);
}
