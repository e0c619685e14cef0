import { decode, encode } from '@berth/go-template/text/bytes';
import { quote } from '@berth/go-template/text/quote';

/** A text as Go's `%q` writes it. */
export function quoteAsGo(text: string): string {
  return decode(quote(encode(text)));
}
