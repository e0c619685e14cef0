import { decode, encode } from '../../template/text/bytes.ts';
import { quote } from '../../template/text/quote.ts';

/** A text as Go's `%q` writes it. */
export function quoteAsGo(text: string): string {
  return decode(quote(encode(text)));
}
