import { html as elements } from 'htm/preact';
import type { ComponentChildren } from 'preact';

/** Templates of elements: `html\`<p>${text}</p>\``. Text in them is text, never mark-up. */
export const html = elements as (
  strings: TemplateStringsArray,
  ...values: readonly unknown[]
) => ComponentChildren;

/** A sentence names so many clusters. */
export const MOST_NAMED = 8;

/** Local time, to the second; the date too unless it is today, in the order of ISO 8601, as Swedes write it. */
export function momentText(at: string | undefined): string {
  const date = new Date(at ?? '');
  if (Number.isNaN(date.getTime())) return 'at an unknown time';
  const time = date.toTimeString().slice(0, 8);
  const isToday = date.toDateString() === new Date().toDateString();
  return isToday ? time : `${date.toLocaleDateString('sv')} ${time}`;
}

/** `1 cluster`, `1,204 clusters` */
export function counted(count: number, one: string, many = `${one}s`): string {
  return `${count.toLocaleString('en')} ${count === 1 ? one : many}`;
}
