import { readFile } from 'node:fs/promises';
import { gzipSync } from 'node:zlib';
import type { Request, Response } from 'express';
import { packageRoot } from '../../../adapters/program/package-root.ts';
import { STYLE } from '../../../core/preview/report/report-style.ts';

/** The page of every screen. It shows nothing by itself, so everybody may have it. */
const PAGE = `<!doctype html>
<html lang="en"><head><meta charset="utf-8"><title>Berth</title>
<meta name="viewport" content="width=device-width, initial-scale=1">
<link rel="icon" href="data:,">
<link rel="stylesheet" href="/ui/app.css">
<script type="module" src="/ui/app.js"></script></head>
<body><noscript>The dashboard needs JavaScript. The command berth shows the same.</noscript><div id="app"></div></body></html>
`;

/** Scripts and styles of this server only. Report tables have widths in style attributes. */
const POLICY = [
  "default-src 'none'",
  "script-src 'self'",
  "style-src 'self' 'unsafe-inline'",
  "connect-src 'self'",
  'img-src data:',
  "base-uri 'none'",
  "form-action 'none'",
  "frame-ancestors 'none'",
].join('; ');

export const PAGE_HEADERS = {
  'content-security-policy': POLICY,
  'x-content-type-options': 'nosniff',
  'x-frame-options': 'DENY',
  'referrer-policy': 'no-referrer',
  'cross-origin-opener-policy': 'same-origin',
  'cross-origin-resource-policy': 'same-origin',
} as const;

interface PageFile {
  readonly type: string;
  readonly plain: Buffer;
  readonly gzipped: Buffer;
}

/** What a browser loads: the page, its script and its style. `npm run build` makes the last two. */
export class PageFiles {
  readonly #files = new Map<string, Promise<PageFile | undefined>>();

  /** @param name `app.js`, `app.css`; undefined: the page */
  async send(name: string | undefined, request: Request, response: Response): Promise<void> {
    let file = this.#files.get(name ?? '');
    if (file === undefined) this.#files.set(name ?? '', (file = load(name)));
    const found = await file;
    if (found === undefined) {
      this.#files.delete(name ?? '');
      response.status(503).type('text').send('the dashboard is not built: npm run build');
      return;
    }
    response.set('vary', 'accept-encoding').type(found.type);
    if (request.acceptsEncodings('gzip') === false) response.send(found.plain);
    else response.set('content-encoding', 'gzip').send(found.gzipped);
  }
}

async function load(name: string | undefined): Promise<PageFile | undefined> {
  if (name === undefined) return fileOf('html', PAGE);
  const text = await readFile(new URL(`dist/ui/${name}`, packageRoot()), 'utf8').catch(() => undefined);
  if (text === undefined) return undefined;
  return name.endsWith('.css') ? fileOf('css', `${STYLE}\n${text}`) : fileOf('js', text);
}

function fileOf(type: string, text: string): PageFile {
  const plain = Buffer.from(text);
  return { type, plain, gzipped: gzipSync(plain) };
}
