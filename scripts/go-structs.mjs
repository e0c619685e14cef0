// Reads the structs of a Go package of Kubernetes API types: what is a pointer, and what is left out of JSON when it is empty.
// The published schemas do not say either. It reads gofmt's form of `types.go`, not Go.
import { readFileSync, readdirSync } from 'node:fs';
import { join } from 'node:path';

/**
 * @param {string} dir folder of one Go package
 * @returns {Map<string, {name: string, type: string, pointer: boolean, always: boolean, omitzero: boolean}[]>}
 *   fields by struct; embedded structs are flattened as JSON does it. `always`: no `omitempty`.
 */
export function goStructs(dir) {
  const text = readdirSync(dir)
    .filter((file) => file.endsWith('.go') && !file.startsWith('zz_generated') && !file.endsWith('.pb.go') && !file.endsWith('_test.go'))
    .map((file) => readFileSync(join(dir, file), 'utf8'))
    .join('\n');
  const raw = new Map();
  for (const [, name, body] of text.matchAll(/^type (\w+) struct \{\n(.*?)^\}/gms)) raw.set(name, fieldsOf(body));
  const flat = (name) =>
    (raw.get(name) ?? []).flatMap((field) => (field.embedded === undefined ? [field] : flat(field.embedded)));
  return new Map([...raw.keys()].map((name) => [name, flat(name)]));
}

function fieldsOf(body) {
  const fields = [];
  for (const line of body.split('\n')) {
    const embedded = /^\t(?:\w+\.)?(\w+)\s+`json:",inline"/.exec(line);
    if (embedded !== null) {
      fields.push({ embedded: embedded[1] });
      continue;
    }
    const match = /^\t(?:\w+\s+)?([\w.*[\]]+)\s+`.*?json:"([^"]+)"/.exec(line);
    if (match === null) continue;
    const [, type, tag] = match;
    const [name, ...options] = tag.split(',');
    if (name === '-' || name === '') continue;
    fields.push({
      name,
      type,
      pointer: type.startsWith('*'),
      always: !options.includes('omitempty'),
      omitzero: options.includes('omitzero'),
    });
  }
  return fields;
}

/**
 * @param {string} prefix full name of the protobuf package
 * @param {string} dir folder with its `generated.proto`
 * @returns {Record<string, Record<string, [name: string, type: string]>>} fields by message and number
 */
export function protoMessages(prefix, dir) {
  const text = readFileSync(join(dir, 'generated.proto'), 'utf8');
  const result = {};
  for (const [, message, body] of text.matchAll(/^message (\w+) \{\n(.*?)^\}/gms)) {
    const fields = {};
    for (const [, label, type, name, number] of body.matchAll(/^ {2}(optional |repeated |)(map<[^>]+>|[\w.]+) (\w+) = (\d+)/gm))
      fields[number] = [name, label === 'repeated ' ? `[]${type}` : type];
    result[`${prefix}.${message}`] = fields;
  }
  return result;
}
