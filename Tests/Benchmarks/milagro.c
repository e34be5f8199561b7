/* Called by mpin.py: computes log-ins by the Apache Milagro library, as the agent's benchmark does, and prints the
   microseconds of each as a JSON list. The library's own functions hash the identity and the date again. */
#include <mpin_BN254CX.h>

#include <stdio.h>
#include <stdlib.h>
#include <time.h>

#define BYTES 32
#define POINT 65

/* Vector pub-01 of Tests/MPin/Vectors. */
static const char *token = "04197ade7c79924cfab7885c97545ff89a751526ec1d1dfc85d68e0a3cff9cd94c"
    "219fce24de912100b9306d811d056e184e54d4c987ed1aa7fea04496fd5f798e";
static const char *permit = "04053e90b8d0aef39052ea2899e399d8d09eed28871425a3b325504bb4d27e6e3f"
    "1a0c7b481d5d8fa262775862c24c0db52dd847cee9ac7ec4c7926c06d8f2e100";
static const char *secret = "22c1bbce31a2f58dabe9369614233e406f7ffdb31477982a767315dc813ec2ac";
static const char *challenge = "059f88131811b2d2d12325facf6dfc9e82153af93ae78cf30bbbed14f9dfd877";

static double microseconds(void)
{
    struct timespec now;
    clock_gettime(CLOCK_THREAD_CPUTIME_ID, &now);
    return now.tv_sec * 1e6 + now.tv_nsec / 1e3;
}

int main(int count, char **words)
{
    int rounds = count == 2 ? atoi(words[1]) : 0;
    char room[8][2 * POINT];
    octet identity = {30, 2 * POINT, "{\"userID\":\"alice@example.org\"}"};
    octet x = {0, BYTES, room[0]}, y = {0, BYTES, room[1]}, t = {0, POINT, room[2]}, tp = {0, POINT, room[3]};
    octet s = {0, POINT, room[4]}, u = {0, POINT, room[5]}, ut = {0, POINT, room[6]};

    OCT_fromHex(&t, (char *)token);
    OCT_fromHex(&tp, (char *)permit);
    OCT_fromHex(&x, (char *)secret);
    OCT_fromHex(&y, (char *)challenge);
    printf("[");
    for (int round = 0; round < rounds; round++) {
        double start = microseconds();
        if (MPIN_BN254CX_CLIENT_1(BYTES, 19674, &identity, NULL, &x, 9442, &t, &s, &u, &ut, &tp) != 0
            || MPIN_BN254CX_CLIENT_2(&x, &y, &s) != 0)
            return 1;
        printf("%s%.1f", round ? "," : "", microseconds() - start);
    }
    printf("]\n");
    return rounds > 0 ? 0 : 1;
}
