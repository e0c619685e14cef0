import type { FieldPath } from '@berth/kube/model/field-path';
import { DocumentLocator, type Position } from './document-locator.ts';
import { splitDocuments } from './split-documents.ts';

/** The position of an object in its file, to locate its fields later. */
export interface ManifestPlace {
  /** The index of the document in the file, from 0. Blank documents do not count. */
  readonly document: number;
  /** Path of the object inside the document: empty, or `items[3]` of a List. */
  readonly within: FieldPath;
}

/** Finds the positions of fields in a file's text, for problems that are found after parsing. Create it once for each file. */
export function makeFieldLocator(text: string): (place: ManifestPlace, path: FieldPath) => Position {
  const documents = splitDocuments(text);
  const locators = new Map<number, DocumentLocator>();
  return (place, path) => {
    const document = documents[place.document];
    if (document === undefined) return { line: 1, column: 1 };
    let locator = locators.get(place.document);
    if (locator === undefined) {
      locator = new DocumentLocator(document.text);
      locators.set(place.document, locator);
    }
    const at = locator.locate([...place.within, ...path], 'value');
    return { line: document.startLine + at.line - 1, column: at.column };
  };
}

/**
 * Whether a text has the fields apiVersion and kind: at the start of a line, or after another field on it, as in JSON
 * on one line. For texts that cannot be parsed.
 */
export function hasManifestFields(text: string): boolean {
  return FIELDS.every((field) => field.test(text));
}

const FIELDS = ['apiVersion', 'kind'].map(
  (name) => new RegExp(`(?:(?:^|[{,])[ \\t"'-]*${name}["']?|"${name}")[ \\t]*:`, 'm'),
);
