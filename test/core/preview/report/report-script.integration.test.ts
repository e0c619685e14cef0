import { execFile } from 'node:child_process';
import { existsSync, mkdtempSync, rmSync } from 'node:fs';
import { createServer, type Server } from 'node:http';
import type { AddressInfo } from 'node:net';
import { tmpdir } from 'node:os';
import { delimiter, join } from 'node:path';
import { promisify } from 'node:util';
import { afterEach, beforeEach, describe, expect, it } from 'vitest';
import { CONTENT_POLICY } from '../../../../src/core/preview/report/report-style.ts';
import { page } from './report-fixture.ts';

const chromium = (process.env['PATH'] ?? '')
  .split(delimiter)
  .map((folder) => join(folder, 'chromium'))
  .find(existsSync);

/** The page as `berth serve` sends it, in a real browser. */
describe.runIf(chromium !== undefined)('the script of the report page', () => {
  let server: Server;
  let profile: string;
  let body: string;
  beforeEach(async () => {
    body = page();
    profile = mkdtempSync(join(tmpdir(), 'berth-browser-'));
    server = createServer((_request, response) => {
      response
        .writeHead(200, {
          'content-type': 'text/html',
          'content-security-policy': `${CONTENT_POLICY}; sandbox allow-scripts`,
        })
        .end(body);
    });
    await new Promise<void>((resolve) => void server.listen(0, '127.0.0.1', resolve));
  });
  afterEach(() => {
    server.close();
    rmSync(profile, { recursive: true, force: true });
  });

  const domOf = async (fragment: string): Promise<string> => {
    const { port } = server.address() as AddressInfo;
    const { stdout } = await promisify(execFile)(chromium ?? '', [
      ...['--headless', '--no-sandbox', '--disable-gpu', `--user-data-dir=${profile}`],
      ...['--dump-dom', `http://127.0.0.1:${port}/${fragment}`],
    ]);
    return stdout;
  };
  /** The rows of tables and lists that are shown. */
  const shown = (dom: string): readonly string[] =>
    [...dom.matchAll(/<(tr|li)\b([^>]*)>([^]*?)<\/\1>/g)]
      .filter(([, , attributes = '']) => !attributes.includes('hidden'))
      .map(([, , , content = '']) => content.replace(/<[^>]*>/g, ' '));

  it('is allowed by the policy of the page, and offers the filter', async () => {
    expect(await domOf('')).toContain('<div class="tools"><label>');
  });

  it('shows only the lines with the text of the address, and opens their folds', async () => {
    const dom = await domOf('#filter=GPU');
    expect(shown(dom).some((row) => row.includes('lack label gpu'))).toBe(true);
    expect(shown(dom).some((row) => row.includes('tier=gold'))).toBe(false);
    expect(dom).toMatch(/<details open=""><summary>Refused by predicates/);
    expect(dom).toMatch(/<details hidden=""><summary>Refused by taints/);
    expect(dom).toContain('<span role="status">1 line</span>');
  });

  it('is the only one that may run', async () => {
    body = page().replace('<h1>', '<script>document.title = "broken"</script><h1 onclick="x()">');
    expect(await domOf('')).not.toContain('<title>broken');
  });
});
