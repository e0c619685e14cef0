import { createHash } from 'node:crypto';
import { execFileSync } from 'node:child_process';
import { mkdtempSync, readFileSync, rmSync, writeFileSync } from 'node:fs';
import { createServer, type IncomingMessage, request, type Server, type ServerResponse } from 'node:http';
import type { AddressInfo } from 'node:net';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { build } from 'esbuild';

/** The object that a page of Argo CD is about, and the dark or light that its user chose. */
export interface PageSubject {
  readonly application: object;
  readonly resource: object;
  readonly theme: 'light' | 'dark';
}

/**
 * What argocd-server does for an extension: a page with the React of the host and `extensionsAPI`, the files that the installer
 * unpacked, and the proxy, which asks the backend with a token and without the cookie.
 * Source: argo-cd 3.6 `server/server.go` (serveExtensions), `server/extension/extension.go`,
 * `ui/src/app/shared/services/extensions-service.ts`.
 */
export class ArgocdPage {
  subject: PageSubject | undefined;
  /** What the proxy got from the browser. */
  readonly asked: IncomingMessage['headers'][] = [];
  readonly #server: Server;

  private constructor(script: string, react: string, { backend, token }: { backend: string; token: string }) {
    this.#server = createServer((incoming, response) => {
      const path = incoming.url ?? '';
      if (path === '/extensions.js')
        return void response.end(`try {\n${script}\n} catch(e) { console.error('failed to load:', e); }\n`);
      if (path === '/react.js') return void response.end(react);
      if (path.startsWith('/extensions/berth/')) {
        this.asked.push(incoming.headers);
        return forward(incoming, response, { backend, token });
      }
      const { theme } = this.subject ?? {};
      response
        .setHeader('content-type', 'text/html; charset=utf-8')
        .end(pageOf(JSON.stringify(this.subject), theme));
    });
  }

  /** @param version of the host's React @param berth the address of `berth serve`, which has the extension */
  static async open(
    version: 18 | 19,
    berth: { readonly backend: string; readonly token: string },
  ): Promise<ArgocdPage> {
    const page = new ArgocdPage(
      await installedScript(`${berth.backend}/argocd`),
      await hostReact(version),
      berth,
    );
    await new Promise<void>((resolve) => page.#server.listen(0, '127.0.0.1', resolve));
    return page;
  }

  get url(): string {
    return `http://127.0.0.1:${(this.#server.address() as AddressInfo).port}/`;
  }

  close(): void {
    this.#server.close();
    this.#server.closeAllConnections();
  }
}

/** As `install.sh` of argocd-extension-installer does it: download, compare, unpack; the script below `resources`. */
export async function installedScript(url: string): Promise<string> {
  const archive = Buffer.from(await (await fetch(`${url}/extension.tar.gz`)).arrayBuffer());
  const sums = await (await fetch(`${url}/extension_checksums.txt`)).text();
  const [sum] =
    sums
      .split('\n')
      .find((line) => line.includes('extension.tar.gz'))
      ?.split(' ') ?? [];
  if (sum !== createHash('sha256').update(archive).digest('hex'))
    throw new Error('extension checksum mismatch');
  const dir = mkdtempSync(join(tmpdir(), 'berth-extension-'));
  writeFileSync(join(dir, 'extension.tar.gz'), archive);
  execFileSync('tar', ['-zxf', 'extension.tar.gz'], { cwd: dir });
  const script = readFileSync(join(dir, 'resources/extension-berth.js/extension-berth.js'), 'utf8');
  rmSync(dir, { recursive: true });
  return script;
}

async function hostReact(version: 18 | 19): Promise<string> {
  if (version === 18)
    return ['react18/umd/react', 'react-dom18/umd/react-dom']
      .map((file) => readFileSync(`node_modules/${file}.development.js`, 'utf8'))
      .join('\n');
  const contents = `import * as React from 'react'; import { createRoot } from 'react-dom/client'; Object.assign(window, { React, ReactDOM: { createRoot } });`;
  const define = { 'process.env.NODE_ENV': '"development"' };
  const built = await build({
    stdin: { contents, resolveDir: '.' },
    bundle: true,
    format: 'iife',
    write: false,
    define,
  });
  return built.outputFiles[0]?.text ?? '';
}

function forward(
  incoming: IncomingMessage,
  response: ServerResponse,
  to: { backend: string; token: string },
): void {
  const { cookie: _cookie, authorization: _authorization, host: _host, ...headers } = incoming.headers;
  const path = (incoming.url ?? '').replace('/extensions/berth', '');
  const sent = request(`${to.backend}${path}`, {
    headers: { ...headers, authorization: `Bearer ${to.token}` },
  });
  sent.once('response', (answer) => {
    response.writeHead(answer.statusCode ?? 502, answer.headers);
    answer.pipe(response);
  });
  sent.once('error', () => response.writeHead(502).end());
  sent.end();
}

/** The parts of Argo CD's page that show extensions, with its classes and colours. */
function pageOf(subject: string, theme = 'light'): string {
  return `<!doctype html><html><head><base href="/"><title>Argo CD</title><link rel="icon" href="data:,"><style>
body{margin:0;font:14px/1.5 Heebo,sans-serif}.theme-light{background:#dee6eb;color:#363c4a}.theme-dark{background:#100f0f;color:#fff}
.application-status-panel{display:flex;font-size:.875em;padding-bottom:.5em}.application-status-panel__item{padding:5px 20px;font-size:.8em;line-height:1.2;display:flex;flex-direction:column}
.application-status-panel__item label{display:block;font-size:13px}.application-status-panel__item-value{font-size:2em;font-weight:500}.tab{padding:1em 20px}
.theme-light .application-status-panel,.theme-light .tab{background:#fff}.theme-dark .application-status-panel,.theme-dark .tab{background:#1f1f1f}.tab{margin:1em}</style>
<script src="/react.js"></script><script>
const panels = [], tabs = [];
window.extensionsAPI = {
  registerStatusPanelExtension: (component, title, id, flyout) => panels.push({ component, title, id, flyout }),
  registerResourceExtension: (component, group, kind, title, opts) => tabs.push({ component, group, kind, title, icon: opts && opts.icon }),
};
</script><script defer src="extensions.js"></script></head><body class="theme-${theme}"><div id="app"></div><script>
addEventListener('DOMContentLoaded', () => {
  const { application, resource } = ${subject};
  const h = React.createElement;
  const Page = () => {
    const [open, setOpen] = React.useState(undefined);
    const tab = tabs.find(({ group, kind }) => group === 'argoproj.io' && kind === resource.kind);
    return h('div', null,
      h('div', { className: 'application-status-panel row' },
        h('div', { className: 'application-status-panel__item' }, h('label', null, 'APP HEALTH'), h('div', { className: 'application-status-panel__item-value' }, '♥ Healthy')),
        panels.map((one) => h(one.component, { key: one.title, application, openFlyout: () => setOpen(one.id) }))),
      tab && h('div', { className: 'tab', id: 'tab' }, h(tab.component, { application, resource, tree: { nodes: [] } })),
      panels.filter(({ id }) => id === open).map((one) => h('div', { className: 'tab', id: 'flyout', key: one.id }, h(one.flyout, { application, tree: { nodes: [] } }))));
  };
  ReactDOM.createRoot(document.getElementById('app')).render(h(Page));
});
</script></body></html>`;
}
