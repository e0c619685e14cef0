import { createHash } from 'node:crypto';
import { mkdirSync, readFileSync, writeFileSync } from 'node:fs';
import type { Page } from 'playwright-core';
import { expect } from 'vitest';

/** What differs from run to run. */
const PASSING: readonly (readonly [RegExp, string])[] = [
  [/(\d{4}-\d\d-\d\d )?\d\d:\d\d:\d\d/g, 'TIME'],
  [/\b[0-9a-f]{8}\b/g, 'COMMIT'],
];
/** As written, because browsers print rules in other words from version to version. */
const STYLES = `Promise.all([...document.querySelectorAll('style, link[rel=stylesheet]')].map((one) =>
  one.href ? fetch(one.href).then((answer) => answer.text()) : one.textContent)).then((all) => all.join('\\n'))`;

/**
 * Checks that the picture `docs/images/NAME.webp` is what the page shows: the same text in the same style. Pixels differ from one
 * machine to the next, so they are not compared. `UPDATE_GOLDEN=1` makes the picture again.
 */
export async function checkPicture(page: Page, name: string): Promise<void> {
  const file = `docs/images/${name}`;
  const digest = (content: string | Buffer): string => createHash('sha256').update(content).digest('hex');
  const text = PASSING.reduce(
    (text, [from, to]) => text.replaceAll(from, to),
    String(await page.evaluate('document.body.innerText')),
  );
  // In no order, because what happens at one moment is listed in any order.
  const lines = [...new Set(text.split('\n').map((line) => line.trim()))].sort();
  const seen = [`style ${digest(String(await page.evaluate(STYLES)))}`, ...lines, ''].join('\n');
  if (process.env['UPDATE_GOLDEN'] === '1') {
    mkdirSync('docs/images', { recursive: true });
    const picture = await asWebp(page, await page.screenshot({ fullPage: true }));
    writeFileSync(`${file}.webp`, picture);
    writeFileSync(`${file}.txt`, `picture ${digest(picture)}\n${seen}`);
  }
  const [, ...kept] = readFileSync(`${file}.txt`, 'utf8').split(/(?<=^picture .*\n)/);
  expect(kept.join(''), `${file}.webp is old: run this test with UPDATE_GOLDEN=1`).toBe(seen);
}

async function asWebp(page: Page, png: Buffer): Promise<Buffer> {
  // A page of its own, because that of the picture may load no images.
  const blank = await page.context().newPage();
  const base64 = await blank.evaluate(`(async () => {
    const bytes = Uint8Array.from(atob('${png.toString('base64')}'), (char) => char.charCodeAt(0));
    const image = await createImageBitmap(new Blob([bytes]));
    const canvas = Object.assign(document.createElement('canvas'), { width: image.width, height: image.height });
    canvas.getContext('2d').drawImage(image, 0, 0);
    return canvas.toDataURL('image/webp', 0.85).split(',')[1];
  })()`);
  await blank.close();
  return Buffer.from(String(base64), 'base64');
}
