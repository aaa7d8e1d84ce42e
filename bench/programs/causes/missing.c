/* Adds prices of an order book up. The bug, a null pointer: nobody asks whether an article that was
 * removed is there when an order for it is carried out. */
#include <stdio.h>

#include "chance.h"

enum { kArticles = 97, kOrders = 3000 };

struct article {
  int number;
  int price;
  int left;
  struct article* next;
};

static struct article* buckets[16];

static void add_article(int number) {
  struct article* article = malloc(sizeof *article);
  if (article == NULL) exit(3);
  article->number = number;
  article->price = 1 + chance_below(500);
  article->left = 40 + chance_below(60);
  article->next = buckets[number % 16];
  buckets[number % 16] = article;
}

/* Not inlined: the compiler would conclude that it never returns a null pointer, which is used. */
__attribute__((noinline)) static struct article* find_article(int number) {
  for (struct article* article = buckets[number % 16]; article != NULL; article = article->next)
    if (article->number == number) return article;
  return NULL;
}

static void remove_article(int number) {
  for (struct article** link = &buckets[number % 16]; *link != NULL; link = &(*link)->next) {
    if ((*link)->number != number) continue;
    struct article* gone = *link;
    *link = gone->next;
    free(gone);
    return;
  }
}

static int order(int number, int wanted) {
  struct article* article = find_article(number);
  int given = wanted < article->left ? wanted : article->left;
  article->left -= given;
  if (article->left == 0) article->left = 80;
  return given * article->price;
}

int main(int count, char** arguments) {
  long sum = 0;
  begin_chance(count, arguments);
  for (int number = 0; number < kArticles; number++) add_article(number);
  for (int i = 0; i < kOrders; i++) {
    int number = chance_below(kArticles);
    if (chance_below(9000) == 0) {
      remove_article(number);
      if (chance_below(2) == 0) add_article(number);
    }
    sum += order(chance_below(kArticles), 1 + chance_below(9));
  }
  printf("%ld\n", sum);
  return 0;
}
